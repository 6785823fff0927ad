#include "harness/cli/warnings.hpp"

#include <algorithm>

#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"

namespace espalier::bench::cli {

void tell_warnings(const std::vector<std::string>& warnings) {
    constexpr std::size_t kMost = 10;
    for (std::size_t i = 0; i < std::min(kMost, warnings.size()); ++i)
        to_stderr("warning: {}\n", printable(warnings[i]));
    if (warnings.size() > kMost)
        to_stderr("and {} more warnings: espalier verify lists what is wrong\n", warnings.size() - kMost);
}

}  // namespace espalier::bench::cli
