// A registry, trees and devices that are made up, and a fixture that asks what is decided over them.

#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/dispatch/dispatch.hpp"
#include "kernels/problems/convolution_2d.hpp"

namespace espalier::invented_trees {

using convolution_2d::Buffers;
using convolution_2d::Problem;
using convolution_2d::VariantId;

inline constexpr auto kFast = static_cast<VariantId>(0);
inline constexpr auto kBaseline = static_cast<VariantId>(1);
inline constexpr auto kMissing = static_cast<VariantId>(2);
inline constexpr auto kGpuFast = static_cast<VariantId>(3);
inline constexpr auto kGpuBaseline = static_cast<VariantId>(4);
inline constexpr auto kVector = static_cast<VariantId>(5);

inline void run_nothing(Context&, const Problem&, const Buffers&, const Configuration&) {}

inline Support anything(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

inline Support narrow_images(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (problem.width > configuration["block"]) return Support::no("wider than a block");
    return Support::yes();
}

inline Support with_avx2(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (!device.avx2) return Support::no("needs AVX2");
    return problem.width > 100 ? Support::no("too wide") : Support::yes();
}

inline Variant<Problem> fast(std::string_view name) {
    return {.space = {{"block", {64, 128}}}, .supports = narrow_images, .run = run_nothing, .name = name};
}

inline Variant<Problem> baseline(std::string_view name) {
    return {.role = Role::baseline, .supports = anything, .run = run_nothing, .name = name};
}

inline const std::vector<Registered<Problem>> registry{
    {fast("fast"), DeviceKind::cpu, false, 0, "", ""},
    {baseline("baseline"), DeviceKind::cpu, false, 0, "", ""},
    {{.name = "missing"}, DeviceKind::cpu, false, 0, "", ""},
    {fast("gpu_fast"), DeviceKind::cuda, true, 90, "", ""},
    {baseline("gpu_baseline"), DeviceKind::cuda, false, 0, "", ""},
    {{.supports = with_avx2, .run = run_nothing, .name = "vector"}, DeviceKind::cpu, false, 0, "", ""},
};

inline constexpr Choice<Problem> cpu_small[] = {{kMissing, {{"block", 8}}, 1.0F},
                                                {kFast, {{"block", 128}}, 1.1F},
                                                {kFast, {{"block", 64}}, 1.2F},
                                                {kBaseline, {}, 3.0F}};
inline constexpr Choice<Problem> cpu_large[] = {{kBaseline, {}, 1.0F}};
inline constexpr Choice<Problem> cpu_vector[] = {{kVector, {}, 1.0F}, {kBaseline, {}, 9.0F}};
inline constexpr Choice<Problem> gpu[] = {{kGpuFast, {{"block", 128}}, 1.0F}, {kGpuBaseline, {}, 2.0F}};

inline constexpr Leaf<Problem> cpu_leaves[] = {{0, 10, 2.7F, 1.1F, 1.0F, 1.2F, cpu_small},
                                               {1, 20, 1.0F, 1.0F, 1.0F, 1.0F, cpu_large}};
inline constexpr Leaf<Problem> vector_leaves[] = {{0, 5, 9.0F, 1.0F, 1.0F, 1.0F, cpu_vector}};
inline constexpr Leaf<Problem> gpu_leaves[] = {{0, 5, 2.0F, 1.0F, 1.0F, 1.0F, gpu}};

inline constexpr ReadFeature<Problem> sizes[] = {[](const Problem& p) { return static_cast<double>(p.height); },
                                                 [](const Problem& p) { return static_cast<double>(p.width); }};
inline constexpr Column sizes_asked[] = {{"height", 0}, {"width", 1}};
inline constexpr TreeNode by_height[] = {TreeNode::at_most(0, 100, 2), TreeNode::leaf(0), TreeNode::leaf(1)};
inline constexpr TreeNode one_leaf[] = {TreeNode::leaf(0)};

inline Selector<Problem> cpu_tree(std::string_view key, int threads, Isa isa, std::string_view design = "zen4") {
    const DeviceTraits traits{.isa = isa, .microarchitecture = design, .threads = threads};
    return {key, traits, "abc", sizes, sizes_asked, by_height, cpu_leaves};
}
inline Selector<Problem> vector_tree(std::string_view key, int threads, Isa isa) {
    return {key, {.isa = isa, .microarchitecture = "zen4", .threads = threads}, "abc", {}, {}, one_leaf, vector_leaves};
}
inline Selector<Problem> gpu_tree(std::string_view key, int sm, int sm_count = 132) {
    return {key, {.kind = DeviceKind::cuda, .sm = sm, .sm_count = sm_count}, "def", {}, {}, one_leaf, gpu_leaves};
}

inline DeviceInfo cpu_device(int threads, Isa isa, std::string_view design = "zen4") {
    DeviceInfo device;
    device.microarchitecture = design;
    device.threads = threads;
    device.avx2 = device.fma = device.avx512 = device.avx512_vnni = true;
    narrow(device, isa);
    device.key =
        "cpu-" + device.microarchitecture + "-" + std::string(to_string(isa)) + "-" + std::to_string(threads) + "t";
    return device;
}

inline DeviceInfo gpu_device(std::string_view key, int sm) {
    DeviceInfo device;
    device.kind = DeviceKind::cuda;
    device.key = key;
    device.sm = sm;
    device.sm_count = 132;
    return device;
}

/// Keys of the trees in the order in which they are asked.
inline std::string order(const std::vector<Selector<Problem>>& trees, const DeviceInfo& device) {
    SimilarTrees<Problem> walk(trees, device);
    std::string keys;
    while (const auto* tree = walk.next()) keys.append(keys.empty() ? "" : " ").append(tree->device_key);
    return keys;
}

inline Problem sized(std::int64_t width, std::int64_t height) {
    return {.width = width, .height = height, .channels = 1};
}

class Dispatch : public testing::Test {
protected:
    std::vector<Selector<Problem>> trees_{cpu_tree("cpu-zen4-avx2-4t", 4, Isa::avx2), gpu_tree("nvidia-h200", 90)};

    [[nodiscard]] Tables<Problem> tables() const { return {"convolution_2d", registry, trees_}; }

    /// "variant configuration" of what is decided, or "error: message".
    [[nodiscard]] std::string decided(const Problem& problem, const DeviceInfo& device,
                                      std::string_view forced = {}) const {
        const auto choice = parse_forced_variant(forced, "the test");
        const auto decision = decide(tables(), problem, device, choice ? &*choice : nullptr);
        if (!decision) return "error: " + decision.error().message;
        return std::string(decision.value().entry->variant.name) + " " + decision.value().configuration.text();
    }
};

/// The registry, `names` of which may differ from run to run.
inline std::vector<Registered<Problem>> unsteady(std::initializer_list<std::string_view> names) {
    std::vector<Registered<Problem>> changed = registry;
    for (Registered<Problem>& entry : changed)
        if (std::ranges::find(names, entry.variant.name) != names.end()) entry.variant.nondeterminism = "it races";
    return changed;
}

}  // namespace espalier::invented_trees
