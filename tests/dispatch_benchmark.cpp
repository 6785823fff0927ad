// What a choice costs: the whole way from a problem and a device to a variant and its configuration.

#include <benchmark/benchmark.h>

#include <array>

#include "espalier/espalier.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "kernels/problems/convolution_2d.hpp"

namespace espalier {
namespace {

using convolution_2d::Problem;

DeviceInfo cpu(std::string_view key, int threads) {
    DeviceInfo device;
    device.key = key;
    device.microarchitecture = "zen4";
    device.threads = threads;
    device.avx2 = device.fma = true;
    return device;
}

DeviceInfo gpu(std::string_view key, int sm) {
    DeviceInfo device;
    device.kind = DeviceKind::cuda;
    device.key = key;
    device.sm = sm;
    return device;
}

void decide_for(benchmark::State& state, const DeviceInfo& device) {
    // Sizes from both sides of the trees' splits, so that the branches are not always predicted.
    std::array<Problem, 8> problems;
    for (std::size_t i = 0; i < problems.size(); ++i)
        problems[i] = {.width = static_cast<std::int64_t>(8 << (i * 5 % 8)), .height = 20, .channels = 3};
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(decide(problems[i++ % problems.size()], device));
}

BENCHMARK_CAPTURE(decide_for, tree_of_the_very_device, cpu("cpu-zen4-avx2-4t", 4));
BENCHMARK_CAPTURE(decide_for, tree_of_a_related_cpu, cpu("cpu-zen4-avx2-64t", 64));
BENCHMARK_CAPTURE(decide_for, tree_of_a_related_gpu, gpu("nvidia-h100", 90));
BENCHMARK_CAPTURE(decide_for, tree_of_an_older_gpu, gpu("nvidia-b200", 100));

/// Everything around the kernel: checks, choice, binding. One pixel, so that the filter itself is short.
void one_pixel(benchmark::State& state) {
    const Device device = Device::cpu();
    Filter5x5 filter{};
    filter[12] = 1;
    std::uint8_t pixel = 1, result = 0;
    for (auto _ : state)
        benchmark::DoNotOptimize(convolve_2d(device, {&pixel, {1, 1, 1}}, filter, Border::zero, {&result, {1, 1, 1}}));
}
BENCHMARK(one_pixel);

}  // namespace
}  // namespace espalier
