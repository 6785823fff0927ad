#include "harness/cli/warnings.hpp"

#include <algorithm>

#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"

namespace espalier::bench::cli {

void tell_warnings(const std::vector<std::string>& warnings) {
    constexpr std::size_t kShown = 10;
    for (std::size_t i = 0; i < std::min(kShown, warnings.size()); ++i)
        to_stderr("warning: {}\n", printable(warnings[i]));
    if (warnings.size() > kShown)
        to_stderr("and {} more warnings: espalier verify lists what is wrong\n", warnings.size() - kShown);
}

}  // namespace espalier::bench::cli
