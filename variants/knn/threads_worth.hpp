#pragma once

#include <algorithm>
#include <cstdint>

namespace espalier::knn {

/// How many of `most` CPU threads so many terms are worth: to wake one takes as long as some 10^5 terms do, and
/// milliseconds where its processor has other work.
inline int threads_worth(std::int64_t terms, int most) {
    constexpr std::int64_t kTermsOfAThread = 1 << 18;
    return static_cast<int>(std::min<std::int64_t>(std::max(most, 1), 1 + terms / kTermsOfAThread));
}

}  // namespace espalier::knn
