#pragma once

#include <algorithm>

namespace espalier {

/// How often a statistical test tries: as often as it says, or a tenth of it under AddressSanitizer, where a try takes
/// ten times as long and shows what there is to see of memory in the first of them.
constexpr int trials(int full) {
#if defined(__SANITIZE_ADDRESS__)
    return std::max(2, full / 10);
#else
    return full;
#endif
}

}  // namespace espalier
