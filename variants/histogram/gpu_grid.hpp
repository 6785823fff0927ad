#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/device_info.hpp"
#include "kernels/problems/histogram.hpp"

namespace espalier::histogram {

/// Blocks of a grid-stride loop over the bytes: `per_sm` for each multiprocessor, but none without work.
inline unsigned blocks_for(const Problem& problem, const DeviceInfo& device, int per_sm, std::int64_t bytes_per_block) {
    const std::int64_t needed = (problem.bytes + bytes_per_block - 1) / bytes_per_block;
    return static_cast<unsigned>(std::min<std::int64_t>(needed, std::int64_t{std::max(1, device.sm_count)} * per_sm));
}

}  // namespace espalier::histogram
