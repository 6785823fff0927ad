#include "harness/text/to_stderr.hpp"

#include <cstdio>
#include <string>

namespace espalier::bench {

void to_stderr_formatted(fmt::string_view format, fmt::format_args arguments) {
    const std::string text = fmt::vformat(format, arguments);
    std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace espalier::bench
