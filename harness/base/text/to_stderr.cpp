#include "harness/base/text/to_stderr.hpp"

#include <cstdio>
#include <string>

#include "harness/base/text/printable.hpp"

namespace espalier::bench {

void to_stderr_as_it_is(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

void to_stderr_formatted(fmt::string_view format, fmt::format_args arguments) {
    to_stderr_as_it_is(printable_lines(fmt::vformat(format, arguments)));
}

}  // namespace espalier::bench
