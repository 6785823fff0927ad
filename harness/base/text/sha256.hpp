#pragma once

#include <string>
#include <string_view>

namespace espalier::bench {

/// SHA-256 of a text, as 64 lower-case digits.
std::string sha256(std::string_view text);

/// Texts and numbers as one text to be hashed. Every item is closed by a byte that UTF-8 does not have, so that
/// {"ab", "c"} and {"a", "bc"} differ.
struct HashedItems {
    std::string bytes;

    HashedItems& text(std::string_view item);
    HashedItems& number(double item);  ///< by its shortest exact decimal spelling
};

}  // namespace espalier::bench
