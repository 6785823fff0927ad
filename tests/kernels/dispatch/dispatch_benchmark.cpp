// What a choice costs: the whole way from a problem and a device to a variant and its configuration.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "espalier/espalier.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/dispatch/choice_forest.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/wisdom.hpp"
#include "kernels/problems/convolution_2d.hpp"
#include "kernels/problems/dot.hpp"

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

/// By wisdom of the very problem.
void decide_by_wisdom(benchmark::State& state) {
    const DeviceInfo device = cpu("cpu-zen4-avx2-4t", 4);
    std::array<Problem, 8> problems;
    for (std::size_t i = 0; i < problems.size(); ++i) {
        problems[i] = {.width = static_cast<std::int64_t>(8 << (i * 5 % 8)), .height = 20, .channels = 3};
        WisdomEntry entry{.family = "convolution_2d",
                          .problem = problem_key(problems[i], true),
                          .device = device.key,
                          .threads = device.threads,
                          .variant = "cpu_scalar",
                          .configuration = "default",
                          .date = "2026-11-26T17:00:00Z",
                          .nanoseconds = 1};
        for (const auto& variant : tables<Problem>().registry)
            if (variant.variant.name == entry.variant) sign_wisdom(entry, DeviceKind::cpu, variant.source_id);
        keep_wisdom(entry);
    }
    std::size_t i = 0;
    for (auto _ : state) benchmark::DoNotOptimize(decide(problems[i++ % problems.size()], device));
    if (!decide(problems[0], device).value().wisdom) state.SkipWithError("there is no wisdom of it");
    forget_wisdom();
}
BENCHMARK(decide_by_wisdom);

/// What a plan that predicts adds to it: a forest of 16 trees of 512 leaves, 32 choices and 24 columns.
void ask_a_forest(benchmark::State& state) {
    constexpr std::uint16_t kDepth = 9;
    ChoiceForest forest{.choices = 32};
    for (std::uint8_t feature = 0; feature < 8; ++feature)
        forest.inputs.push_back({ForestInput::Kind::logarithm, feature, 0});
    for (std::size_t i = 0; i < 16 * forest.inputs.size(); ++i)
        forest.factors.push_back(static_cast<std::int8_t>(static_cast<int>(i * 7 % 3) - 1));
    for (std::size_t tree = 0; tree < 16; ++tree) {
        forest.trees.push_back(
            {static_cast<std::uint32_t>(forest.nodes.size()), static_cast<std::uint32_t>(512 * tree)});
        std::uint16_t leaf = 0;
        const auto grow = [&](const auto& self, std::uint16_t depth) -> void {
            if (depth == kDepth) return forest.nodes.push_back({0, ChoiceForest::Node::kLeaf, leaf++});
            const auto input = static_cast<std::uint16_t>((depth * 5U + tree) % 24);
            const auto below = static_cast<std::uint16_t>((2U << (kDepth - depth - 1)) - 1);
            forest.nodes.push_back({static_cast<float>(4 + depth), input, static_cast<std::uint16_t>(below + 1)});
            self(self, depth + 1), self(self, depth + 1);
        };
        grow(grow, 0);
    }
    forest.leaves.resize(16 * 512 * forest.choices, 10);
    std::array<double, 8> features{};
    std::array<float, 24> columns{};
    std::array<std::uint32_t, 32> totals{};
    std::size_t i = 0;
    for (auto _ : state) {
        for (double& feature : features) feature = static_cast<double>(8U << (i++ * 5 % 16));
        forest.read(features.data(), columns.data());
        forest.ask(columns.data(), totals.data());
        benchmark::DoNotOptimize(totals);
    }
}
BENCHMARK(ask_a_forest);

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

/// Runs of plans for what computes least, whose times are on docs/performance/dispatch.md: the least of many means,
/// which other load changes little.
void least_of_many(benchmark::internal::Benchmark* benchmark) {
    benchmark->MinTime(0.002)->Repetitions(300)->ReportAggregatesOnly()->ComputeStatistics(
        "least", [](const std::vector<double>& times) { return *std::ranges::min_element(times); });
}

void planned_product_of_8(benchmark::State& state) {
    const auto plan = plan_dot_product(Device::cpu(), 8).value();
    const std::array<float, 8> ones{1, 1, 1, 1, 1, 1, 1, 1};
    float result = 0;
    alignas(64) std::byte workspace[4096];
    for (auto _ : state) benchmark::DoNotOptimize(plan.run(ones, ones, &result, nullptr, workspace));
    state.SetLabel(plan.explain().value().variant);
}
BENCHMARK(planned_product_of_8)->Apply(least_of_many);

void planned_4x4(benchmark::State& state, std::int64_t pitch) {
    constexpr ImageShape kShape{4, 4, 1};
    Filter5x5 laplace;
    laplace.fill(-1);
    laplace[12] = 24;
    std::array<std::uint8_t, 64> pixels{}, to{};
    const ConstImage image{pixels.data(), kShape, pitch};
    const Image result{to.data(), kShape, pitch};
    const auto plan_with = [&](std::string_view variant) {
        return plan_convolve_2d(Device::cpu(), image, laplace, Border::mirror, result, {.variant = variant});
    };
    // What the shipped trees choose where there is AVX2, whichever trees this program has.
    const auto fastest = plan_with("cpu_avx2_int16_shuffle");
    const ConvolutionPlan plan = fastest ? fastest.value() : plan_with("").value();
    alignas(64) std::byte workspace[4096];
    for (auto _ : state) benchmark::DoNotOptimize(plan.run(image, result, nullptr, workspace));
    state.SetLabel(plan.explain().value().variant);
}
BENCHMARK_CAPTURE(planned_4x4, of_an_image, 0)->Apply(least_of_many);
BENCHMARK_CAPTURE(planned_4x4, of_a_part, 16)->Apply(least_of_many);

/// Making a plan.
void plan(benchmark::State& state, const Device& device, Memory memory) {
    for (auto _ : state) benchmark::DoNotOptimize(plan_dot_product(device, 1, {.memory = memory}));
}

/// Running one on the CPU: its checks and the shortest of kernels.
void planned_product_of_one(benchmark::State& state) {
    const auto plan = plan_dot_product(Device::cpu(), 1).value();
    const float one = 1;
    float result = 0;
    alignas(64) std::byte workspace[4096];
    for (auto _ : state) benchmark::DoNotOptimize(plan.run({&one, 1}, {&one, 1}, &result, nullptr, workspace));
}
BENCHMARK(planned_product_of_one);
BENCHMARK_CAPTURE(plan, of_a_cpu, Device::cpu(), Memory::host);

bool real_gpu() { return Device::best().is_cuda(); }  // which is never the host executor

/// What a planned call adds to its launch: the same work enqueued by the plan, and by the variant that it runs alone.
/// Not waited for: only the host's share counts. A stream of a few thousand small kernels never fills.
class OnTheGpu {
public:
    static constexpr std::int64_t kElements = 1024;

    OnTheGpu()
        : device_(Device::cuda().value()),
          plan_(plan_dot_product(device_, kElements, {.memory = Memory::device}).value()),
          arrays_(2 * kElements * sizeof(float) + 512),
          workspace_(plan_.workspace_bytes()) {
        device::fill(arrays_.data(), 0, arrays_.size());
    }

    void enqueue_planned() {
        benchmark::DoNotOptimize(
            plan_.run({a(), kElements}, {b(), kElements}, result(), nullptr, {workspace_.data(), workspace_.size()}));
    }
    void enqueue_bare(const DispatchResult<dot::Problem>& decision) {
        Context context{state_of(device_).info, nullptr, {workspace_.data(), workspace_.size()}};
        decision.entry->variant.run(context, {kElements}, {a(), b(), result()}, decision.configuration);
    }
    void one_shot() {
        benchmark::DoNotOptimize(
            dot_product(device_, a(), b(), kElements, result(), {.memory = Memory::device, .wait = false}));
    }
    [[nodiscard]] DispatchResult<dot::Problem> decision() const {
        return decide(dot::Problem{kElements}, state_of(device_).info).value();
    }

private:
    [[nodiscard]] float* result() const { return arrays_.as<float>(); }
    [[nodiscard]] float* a() const { return result() + 128; }
    [[nodiscard]] float* b() const { return a() + kElements; }

    Device device_;
    DotProductPlan plan_;
    device::Buffer arrays_, workspace_;
};

constexpr int kLaunches = 256;

template <class Enqueue>
void enqueue_on_gpu(benchmark::State& state, Enqueue enqueue) {
    if (!real_gpu()) return state.SkipWithError("no GPU");
    OnTheGpu work;
    const auto decision = work.decision();
    for (auto _ : state) {
        for (int i = 0; i < kLaunches; ++i) enqueue(work, decision);
        state.PauseTiming();
        device::synchronize();
        state.ResumeTiming();
    }
    state.SetItemsProcessed(state.iterations() * kLaunches);  // items_per_second: calls
}

void gpu_planned(benchmark::State& state) {
    enqueue_on_gpu(state, [](OnTheGpu& work, const auto&) { work.enqueue_planned(); });
}
void gpu_bare_variant(benchmark::State& state) {
    enqueue_on_gpu(state, [](OnTheGpu& work, const auto& decision) { work.enqueue_bare(decision); });
}
void gpu_one_shot(benchmark::State& state) {
    enqueue_on_gpu(state, [](OnTheGpu& work, const auto&) { work.one_shot(); });
}
void gpu_plan(benchmark::State& state) {
    if (!real_gpu()) return state.SkipWithError("no GPU");
    plan(state, Device::cuda().value(), Memory::device);
}
BENCHMARK(gpu_plan);
BENCHMARK(gpu_bare_variant);
BENCHMARK(gpu_planned);
BENCHMARK(gpu_one_shot);

}  // namespace
}  // namespace espalier
