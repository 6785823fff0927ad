// `describe_launches` of harness/bench/profile/counters.hpp: CUPTI refuses to collect metrics of the launch, and Nsight
// Compute works them out, as here, from the kernel's record with CUDA's own occupancy calculator.

#include <cuda_occupancy.h>

#include <algorithm>
#include <numeric>

#include "device/kernel.hpp"
#include "harness/bench/profile/activity.hpp"
#include "harness/bench/profile/counters.hpp"

namespace espalier::device {
namespace {

double duration(const Activity& one) { return static_cast<double>(one.end_ns - one.start_ns); }

cudaDeviceProp properties_of_current() {
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, current()), "cudaGetDeviceProperties");
    return properties;
}

/// Nothing if the calculator does not know the device.
std::optional<cudaOccResult> occupancy(const Activity& kernel, const cudaDeviceProp& properties) {
    const cudaOccDeviceProp device(properties);
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = properties.maxThreadsPerBlock;
    function.numRegs = kernel.registers;
    function.sharedSizeBytes = kernel.static_shared_bytes;
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = properties.sharedMemPerBlockOptin - kernel.static_shared_bytes;
    function.numBlockBarriers = 1;
    cudaOccDeviceState state;
    if (kernel.shared_percent >= 0) state.carveoutConfig = std::min(kernel.shared_percent, 100);
    cudaOccResult result{};
    if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &state, kernel.block_size,
                                                kernel.dynamic_shared_bytes) != CUDA_OCC_SUCCESS)
        return std::nullopt;
    return result;
}

std::vector<CounterReading> readings(const Activity& kernel, double share, std::size_t kernels) {
    const cudaDeviceProp properties = properties_of_current();
    std::vector<CounterReading> all;
    const auto add = [&](const char* name, double value) { all.push_back({name, value, {}}); };
    add("launch__kernels", static_cast<double>(kernels));
    add("launch__share_of_time", share);
    add("launch__block_size", kernel.block_size);
    add("launch__grid_size", static_cast<double>(kernel.blocks));
    add("launch__registers_per_thread", kernel.registers);
    add("launch__local_mem_per_thread", static_cast<double>(kernel.local_bytes));
    add("launch__shared_mem_per_block", static_cast<double>(kernel.static_shared_bytes + kernel.dynamic_shared_bytes));
    const auto limits = occupancy(kernel, properties);
    if (!limits) {
        all.push_back({"sm__maximum_warps_per_active_cycle_pct", std::nullopt,
                       "CUDA's occupancy calculator does not know this GPU"});
        return all;
    }
    const int warps = (kernel.block_size + properties.warpSize - 1) / properties.warpSize;
    add("launch__occupancy_limit_registers", limits->blockLimitRegs);
    add("launch__occupancy_limit_shared_mem", limits->blockLimitSharedMem);
    add("launch__occupancy_limit_warps", limits->blockLimitWarps);
    add("launch__occupancy_limit_blocks", limits->blockLimitBlocks);
    add("sm__maximum_warps_per_active_cycle_pct", 100.0 * limits->activeBlocksPerMultiprocessor * warps *
                                                      properties.warpSize / properties.maxThreadsPerMultiProcessor);
    return all;
}

}  // namespace

std::vector<CounterReading> describe_launches(const std::function<void()>& run) {
    std::string reason;
    const auto trace = trace_activity(reason);
    run();
    if (!trace) {
        synchronize();
        return {{"launch__kernels", std::nullopt, reason}};
    }
    std::vector<Activity> kernels = trace->take();
    std::erase_if(kernels, [](const Activity& one) { return !one.is_kernel; });
    if (kernels.empty()) return {{"launch__kernels", std::nullopt, "the run launches no kernel"}};
    const double all = std::transform_reduce(kernels.begin(), kernels.end(), 0.0, std::plus<>(), duration);
    const Activity& longest = *std::ranges::max_element(kernels, {}, duration);
    return readings(longest, all > 0 ? duration(longest) / all : 1, kernels.size());
}

}  // namespace espalier::device
