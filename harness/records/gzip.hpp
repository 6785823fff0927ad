#pragma once

#include <string>
#include <string_view>

namespace espalier::bench {

/// The text as a gzip file, without a name and a date: the same text gives the same bytes.
std::string gzip(std::string_view text);

}  // namespace espalier::bench
