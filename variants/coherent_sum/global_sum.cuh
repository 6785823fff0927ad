#pragma once

#include "device/kernel.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {

/// One thread per time sample, traces and delays straight from global memory. Each source file has a kernel of its own,
/// so that what one asks of the driver for it does not hold for the others.
static __global__ void sum_from_global(Problem problem, Buffers buffers, unsigned long long* peaks) {
    const std::int64_t source = blockIdx.x;
    const std::int64_t sample = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    const bool inside = sample < problem.samples;
    const std::int32_t* delays = buffers.delays + source * problem.receivers;
    const float sum = inside ? sum_over_receivers(problem, buffers.traces + sample, delays) : 0;
    keep(problem, buffers, peaks, source, sample, sum, inside);
}

}  // namespace espalier::coherent_sum
