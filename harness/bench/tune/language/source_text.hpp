#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace espalier::bench::tune {

/// Where `word` is next as a word of its own, from a place on; npos if it is not there.
std::size_t find_word(std::string_view text, std::string_view word, std::size_t from = 0);

/// Whether C takes the character for a part of a name.
bool is_word_character(char c);

/// The source without comments; a line break in one stays.
std::string without_comments(std::string_view source);

/// Whether the source has a `__global__` function of this name, its template arguments left out.
bool has_kernel(std::string_view source, std::string_view kernel);

}  // namespace espalier::bench::tune
