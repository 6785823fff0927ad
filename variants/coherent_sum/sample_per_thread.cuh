#pragma once

#include "device/kernel.hpp"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/window.cuh"

namespace espalier::coherent_sum {
namespace {

/// One thread per time sample, traces and delays straight from global memory. `Order` says which sample is whose:
/// Order::sample(place, samples), and `inside` for places in the window alone. Each source file has a kernel of its
/// own, so that what one asks of the driver for it does not hold for the others.
template <class Order>
__global__ void sum_from_global(Problem problem, Buffers buffers, unsigned long long* peaks) {
    const std::int64_t source = blockIdx.x;
    const std::int64_t place = static_cast<std::int64_t>(blockIdx.y) * blockDim.x + threadIdx.x;
    const bool inside = place < problem.samples;
    const std::int64_t sample = Order::sample(place, problem.samples);
    const std::int32_t* delays = buffers.delays + source * problem.receivers;
    const float sum = inside ? sum_over_receivers(problem, buffers.traces + sample, delays) : 0;
    keep(problem, buffers, peaks, source, sample, sum, inside);
}

/// Neighbouring threads read neighbouring samples.
struct InOrder {
    __device__ static std::int64_t sample(std::int64_t place, std::int64_t) { return place; }
};

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    return fits_the_grid(problem, configuration["block"]);
}

std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo&) { return peak_bytes(problem); }

template <class Order>
void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    sum_window(context, problem, buffers, configuration["block"], 0, sum_from_global<Order>);
}

}  // namespace
}  // namespace espalier::coherent_sum
