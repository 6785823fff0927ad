#include "harness/base/text/to_stdout.hpp"

#include "harness/base/text/printable.hpp"

namespace espalier::bench {

void to_stdout_formatted(fmt::string_view format, fmt::format_args arguments) {
    fmt::print("{}", printable_lines(fmt::vformat(format, arguments)));
}

}  // namespace espalier::bench
