#pragma once

#include <cstdint>

namespace espalier {

/// The index that fills a list of the k smallest beyond the number of candidates; its value is NaN.
inline constexpr std::int32_t kNoIndex = -1;

/// The longest list that `smallest_k` is asked for.
inline constexpr std::int64_t kMaxSmallestK = 1024;

}  // namespace espalier
