// Every variant of every family on every edge case of its family, without naming any of them: a new
// variant file is tested by being there. Linked once with the host executor and once with the GPU.

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "harness/bench/families/family.hpp"
#include "kernels/core/registry.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/device/runtime.hpp"
#include "tests/variants/determinism.hpp"
#include "tests/variants/variant_parameter.hpp"

namespace espalier::bench {
namespace {

std::vector<VariantParameter> all_variants() {
    std::vector<VariantParameter> all;
    for (const Family* family : families())
        for (std::size_t v = 0; v < family->variants().size(); ++v) all.push_back({family, v});
    return all;
}

std::optional<DeviceInfo> device_for(DeviceKind kind) {
    if (kind == DeviceKind::cpu) return device::describe_cpu();
    if (device::count() == 0) return std::nullopt;
    return device::open(0);
}

/// Why the processor here runs nothing of a CPU variant, if one with every instruction set would; else empty.
std::string lacking_instructions(const Family& family, std::size_t v, const DeviceInfo& device) {
    if (device.kind != DeviceKind::cpu) return {};
    DeviceInfo every = device;
    every.avx2 = every.fma = every.avx512 = every.avx512_vnni = every.amx_bf16 = every.neon = true;
    std::string reason;
    for (const EdgeCase& edge : family.edge_cases())
        for (const Configuration& configuration : family.variants()[v].configurations) {
            const Support here = family.supports(v, edge.problem, configuration, device);
            if (here) return {};
            if (reason.empty() && family.supports(v, edge.problem, configuration, every)) reason = here.reason;
        }
    return reason;
}

class EveryVariant : public testing::TestWithParam<VariantParameter> {};

TEST_P(EveryVariant, MatchesTheOracleOnEveryEdgeCase) {
    const auto& [family, v] = GetParam();
    const VariantInfo& variant = family->variants()[v];
    if (!variant.foreign.empty()) GTEST_SKIP() << foreign_reason(variant.foreign);
    const auto device = device_for(variant.kind);
    if (!device) GTEST_SKIP() << device::unavailable_reason();
    if (device->emulated && variant.gpu_only) GTEST_SKIP() << "needs a real GPU: the host executor does not run it";

    int ran = 0;
    for (const EdgeCase& edge : family->edge_cases()) {
        const auto bench = family->bench(edge.problem, 1, edge.pattern, *device);
        for (const Configuration& configuration : variant.configurations) {
            if (!family->supports(v, edge.problem, configuration, *device)) continue;
            SCOPED_TRACE(edge.problem + " pattern " + std::to_string(static_cast<int>(edge.pattern)) + " " +
                         configuration.text());
            bench->poison(0xFF);
            bench->run(v, configuration);
            const Mismatch wrong = bench->check(v);
            ASSERT_FALSE(wrong) << wrong.description;
            ++ran;
        }
    }
    RecordProperty("runs", ran);
    // A variant that declines every edge case is untested, which must not look like a success.
    if (variant.min_sm > device->sm) GTEST_SKIP() << "needs a newer GPU";
    if (const auto lacking = lacking_instructions(*family, v, *device); !lacking.empty()) GTEST_SKIP() << lacking;
    if (ran == 0 && !device->emulated && device->kind == DeviceKind::cuda)
        GTEST_SKIP() << "it declines what is small on a real GPU: the host executor runs it";
    EXPECT_GT(ran, 0) << "the variant declined every edge case";
}

class EveryGpuVariant : public testing::TestWithParam<VariantParameter> {};

std::vector<VariantParameter> gpu_variants() {
    std::vector<VariantParameter> all = all_variants();
    std::erase_if(all,
                  [](const VariantParameter& p) { return p.family->variants()[p.variant].kind != DeviceKind::cuda; });
    return all;
}

std::vector<std::byte> joined(const std::vector<std::vector<std::byte>>& outputs) {
    std::vector<std::byte> bytes;
    for (const auto& output : outputs) bytes.insert(bytes.end(), output.begin(), output.end());
    return bytes;
}

TEST_P(EveryGpuVariant, ComputesTheSameInWhateverOrderItsThreadsRun) {
    const Family* const family = GetParam().family;
    const std::size_t v = GetParam().variant;
    const VariantInfo& variant = family->variants()[v];
    if (!variant.foreign.empty()) GTEST_SKIP() << foreign_reason(variant.foreign);
    const auto device = device_for(variant.kind);
    if (!device) GTEST_SKIP() << device::unavailable_reason();
    if (device->emulated && variant.gpu_only) GTEST_SKIP() << "needs a real GPU: the host executor does not run it";

    // Every configuration gets a part of the edge cases that it supports, each another one: an eighth, or less where
    // all together run each case as it is.
    const std::size_t share = std::max<std::size_t>(8, variant.configurations.size());
    for (std::size_t c = 0; c < variant.configurations.size(); ++c) {
        const Configuration& configuration = variant.configurations[c];
        auto edges = family->edge_cases();
        std::erase_if(edges,
                      [&](const EdgeCase& e) { return !family->supports(v, e.problem, configuration, *device); });
        for (std::size_t e = c % std::min(share, std::max<std::size_t>(edges.size(), 1)); e < edges.size();
             e += share) {
            SCOPED_TRACE(edges[e].problem + " " + configuration.text());
            const auto bench = family->bench(edges[e].problem, 1, edges[e].pattern, *device);
            const auto difference = find_nondeterminism([&](std::uint8_t poison) {
                bench->poison(poison);
                bench->run(v, configuration);
                if (variant.nondeterminism.empty()) return joined(bench->outputs());
                const Mismatch wrong = bench->check(v);
                EXPECT_FALSE(wrong) << wrong.description;
                return std::vector<std::byte>{};
            });
            ASSERT_FALSE(difference) << *difference;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Variants, EveryVariant, testing::ValuesIn(all_variants()), test_name);
INSTANTIATE_TEST_SUITE_P(Variants, EveryGpuVariant, testing::ValuesIn(gpu_variants()), test_name);

TEST(Registry, EveryFamilyHasABaselineForEveryKindOfDeviceThatSupportsEveryEdgeCase) {
    for (const Family* family : families())
        for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
            const std::size_t baseline = family->baseline(kind);
            ASSERT_NE(baseline, Family::npos) << family->name() << " on " << to_string(kind);
            const auto device = device_for(kind);
            if (!device) continue;
            const VariantInfo& variant = family->variants()[baseline];
            if (device->emulated && variant.gpu_only) continue;
            for (const EdgeCase& edge : family->edge_cases()) {
                const Support support = family->supports(baseline, edge.problem, variant.configurations[0], *device);
                EXPECT_TRUE(support) << family->name() << "/" << variant.name << ": " << edge.problem << ": "
                                     << support.reason;
            }
        }
}

TEST(Registry, VariantsForOtherProcessorsSayWhy) {
    const DeviceInfo device = device::describe_cpu();
    int found = 0;
    for (const Family* family : families())
        for (std::size_t v = 0; v < family->variants().size(); ++v) {
            const VariantInfo& variant = family->variants()[v];
            if (variant.foreign.empty()) continue;
            ++found;
            SCOPED_TRACE(variant.path);
            EXPECT_TRUE(variant.configurations.empty()) << "it must not become a candidate";
            EXPECT_EQ(family->supports(v, family->edge_cases().front().problem, {}, device).reason,
                      foreign_reason(variant.foreign));
            EXPECT_EQ(variant.source_id.size(), 64U);
        }
    EXPECT_GT(found, 0) << "no processor runs the code of all";
}

TEST(Registry, KeysRoundTrip) {
    for (const Family* family : families())
        for (const EdgeCase& edge : family->edge_cases()) {
            EXPECT_EQ(family->canonical(edge.problem), edge.problem);
            EXPECT_EQ(family->key_of(family->feature_values(edge.problem)), edge.problem);
        }
}

TEST(Registry, BadKeysAreRefusedWithWhatIsKnown) {
    for (const Family* family : families()) {
        EXPECT_THROW(static_cast<void>(family->canonical("no_such_axis=1")), BadProblem);
        EXPECT_THROW(static_cast<void>(family->canonical("no equals sign")), BadProblem);
    }
}

}  // namespace
}  // namespace espalier::bench
