// The order of the trees: the most similar device's first, and the difference in words.

#include "kernels/dispatch/similar_trees.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/dispatch/nearest_tree.hpp"
#include "tests/kernels/dispatch/invented_trees.hpp"

namespace espalier {
namespace {

using namespace invented_trees;

TEST(SimilarTrees, VeryKeyComesFirst) {
    const std::vector trees{gpu_tree("nvidia-h100", 90), gpu_tree("nvidia-h200", 90)};
    EXPECT_EQ(order(trees, gpu_device("nvidia-h200", 90)), "nvidia-h200 nvidia-h100");
    EXPECT_EQ(order(trees, gpu_device("nvidia-h100", 90)), "nvidia-h100 nvidia-h200");
}

TEST(SimilarTrees, AreOfTheSameKindOfDevice) {
    const std::vector trees{gpu_tree("a", 80), cpu_tree("b", 2, Isa::avx2)};
    EXPECT_EQ(order(trees, cpu_device(2, Isa::generic)), "b");
    EXPECT_EQ(order(trees, gpu_device("x", 120)), "a");
    EXPECT_EQ(order({}, gpu_device("x", 120)), "");
}

TEST(SimilarTrees, GpuGoesByArchitectureThenSize) {
    const std::vector trees{gpu_tree("a", 75), gpu_tree("b", 80), gpu_tree("c", 86), gpu_tree("d", 90)};
    EXPECT_EQ(order(trees, gpu_device("x", 80)), "b c a d");
    EXPECT_EQ(order(trees, gpu_device("x", 89)), "b c a d");
    EXPECT_EQ(order(trees, gpu_device("x", 100)), "d b c a");
    EXPECT_EQ(order(trees, gpu_device("x", 70)), "a b c d");
    const std::vector sizes{gpu_tree("large", 90, 132), gpu_tree("small", 90, 16)};
    DeviceInfo device = gpu_device("x", 90);
    device.sm_count = 20;
    EXPECT_EQ(order(sizes, device), "small large");
    device.sm_count = 114;
    EXPECT_EQ(order(sizes, device), "large small");
}

TEST(SimilarTrees, CpuAvoidsPoorerTreesThenGoesByThreads) {
    const std::vector trees{cpu_tree("g8", 8, Isa::generic), cpu_tree("a2", 2, Isa::avx2),
                            cpu_tree("a16", 16, Isa::avx2), cpu_tree("x64", 64, Isa::avx512)};
    EXPECT_EQ(order(trees, cpu_device(1, Isa::avx512)), "x64 a2 a16 g8");  // far in threads, but the same instructions
    EXPECT_EQ(order(trees, cpu_device(4, Isa::avx2)), "a2 a16 x64 g8");    // a richer tree ranks AVX2, too
    EXPECT_EQ(order(trees, cpu_device(12, Isa::avx2)), "a16 a2 x64 g8");
    EXPECT_EQ(order(trees, cpu_device(64, Isa::generic)), "x64 g8 a16 a2");
    EXPECT_EQ(order(trees, cpu_device(2, Isa::avx512vnni)), "x64 a2 a16 g8");
}

TEST(SimilarTrees, CpuOfTheSameDesignWinsAmongEqualThreads) {
    const std::vector trees{cpu_tree("a", 8, Isa::avx2, "zen3"), cpu_tree("b", 8, Isa::avx2, "haswell"),
                            cpu_tree("c", 64, Isa::avx2, "haswell")};
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "haswell")), "b a c");
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "zen3")), "a b c");
}

TEST(SimilarTrees, MoreMeasuredProblemsWinAmongDevicesAsSimilar) {
    const std::vector trees{vector_tree("few", 8, Isa::avx2), cpu_tree("many", 8, Isa::avx2),
                            cpu_tree("as_many", 8, Isa::avx2)};
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2)), "many as_many few");
    EXPECT_EQ(order({trees[1], trees[0]}, cpu_device(8, Isa::avx2)), "many few");
}

TEST(SimilarTrees, CpuOfTheSameMakerWinsAmongOtherDesigns) {
    const std::vector trees{cpu_tree("intel", 8, Isa::avx2, "haswell"), cpu_tree("amd", 8, Isa::avx2, "zen3")};
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "zen5")), "amd intel");
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "amd-27-4")), "amd intel");
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "broadwell")), "intel amd");
    EXPECT_EQ(order(trees, cpu_device(8, Isa::avx2, "intel-6-250")), "intel amd");
}

TEST(SimilarTrees, SizesAreComparedToTheSixteenth) {
    const auto with_sms = [](int count) { return DeviceTraits{.kind = DeviceKind::cuda, .sm = 90, .sm_count = count}; };
    for (int a = 1; a < 300; ++a) {
        EXPECT_EQ(log2_sixteenths(a), std::lround(16 * std::log2(a))) << a;
        for (int b = a; b < 300; ++b) {
            // Two roundings of half a sixteenth.
            const double apart = 16 * std::log2(static_cast<double>(b) / a);
            EXPECT_LE(std::abs(static_cast<double>(dissimilarity(with_sms(a), with_sms(b))) - apart), 1)
                << a << " " << b;
        }
    }
    for (const double size : {4.8e12, 3.35e12, 62914560.0, 0.3}) {
        EXPECT_EQ(log2_sixteenths(size), std::lround(16 * std::log2(size))) << size;
    }
    EXPECT_EQ(log2_sixteenths(0), kUnknownSize);
    EXPECT_EQ(dissimilarity(with_sms(0), with_sms(0)), 0);
}

/// Trees that last are asked in the same order, the ones after the first, too, and decide the same.
TEST(SimilarTrees, RememberingTheNearestChangesNoDecision) {
    const std::vector trees{cpu_tree("second", 4, Isa::avx2), vector_tree("nearest", 8, Isa::avx2), gpu_tree("x", 90)};
    const Tables<Problem> told{"convolution_2d", registry, trees, nullptr, true};
    const Tables<Problem> found{"convolution_2d", registry, trees};
    std::string asked;
    for (const DeviceInfo& device : {cpu_device(8, Isa::avx2), cpu_device(8, Isa::generic), gpu_device("x", 90)})
        for (const std::int64_t width : {50, 120, 500})
            for (int call = 0; call < 2; ++call) {
                const auto a = decide(told, sized(width, 20), device, nullptr);
                const auto b = decide(found, sized(width, 20), device, nullptr);
                ASSERT_TRUE(a && b);
                EXPECT_EQ(a.value().entry, b.value().entry) << device.key << " " << width;
                EXPECT_EQ(a.value().configuration, b.value().configuration);
                EXPECT_EQ(a.value().tree, b.value().tree);
                EXPECT_EQ(a.value().leaf, b.value().leaf);
                if (call == 0) asked.append(a.value().tree->device_key).append(" ");
            }
    EXPECT_EQ(asked, "nearest second nearest second second nearest x x x ");
}

/// What a thread remembers of one device is not taken for another, of the same key or with a member less alike.
TEST(SimilarTrees, NearestIsRememberedForTheVeryDevice) {
    const std::vector trees{cpu_tree("a2", 2, Isa::avx2, "zen3"), cpu_tree("a16", 16, Isa::avx2, "zen3"),
                            cpu_tree("x2", 2, Isa::avx512, "zen5"), gpu_tree("g", 90), gpu_tree("small", 90, 16)};
    const std::vector others{trees[1], trees[3]};
    std::vector<DeviceInfo> devices{cpu_device(2, Isa::avx2, "zen3")};
    const auto add = [&](auto change) { change(devices.emplace_back(devices.front())); };
    add([](DeviceInfo& device) { device.threads = 64; });
    add([](DeviceInfo& device) { device.threads = 1, device.all_threads = 16; });
    add([](DeviceInfo& device) { device.avx512 = device.avx512_vnni = true; });
    add([](DeviceInfo& device) { device.microarchitecture = "zen5"; });
    add([](DeviceInfo& device) { device.key = "a16"; });
    add([](DeviceInfo& device) { device.key = std::string(100, 'k'); });
    devices.push_back(gpu_device("here", 90));
    devices.push_back(devices.back());
    devices.back().sm_count = 20;
    for (int round = 0; round < 2; ++round)
        for (const DeviceInfo& before : devices)
            for (const DeviceInfo& device : devices)
                for (const auto* const all : {&trees, &others}) {
                    const std::span<const Selector<Problem>> asked(*all);
                    static_cast<void>(nearest_tree(asked, before));
                    EXPECT_EQ(nearest_tree(asked, device), SimilarTrees<Problem>(asked, device).next()) << device.key;
                    EXPECT_EQ(nearest_tree(asked, device), SimilarTrees<Problem>(asked, device).next()) << "again";
                }
    EXPECT_EQ(nearest_tree(std::span(trees).first(3), devices.back()), nullptr);
}

TEST(SimilarTrees, DifferenceNamesWhatDiffers) {
    const auto here = cpu_device(16, Isa::avx2, "zen3");
    const auto words = [&](const DeviceTraits& trained) { return difference(traits_of(here), trained); };
    EXPECT_EQ(words({.isa = Isa::avx2, .microarchitecture = "zen3", .threads = 16}), "");
    EXPECT_EQ(words({.isa = Isa::avx512, .microarchitecture = "", .threads = 2}),
              "avx2 instead of avx512, zen3 instead of an unknown design, 16 threads instead of 2");
    DeviceInfo card = gpu_device("x", 89);
    card.l2_bytes = std::size_t{96} << 20, card.shared_per_block_optin = 99 << 10,
    card.nominal_bytes_per_second = 864e9;
    EXPECT_EQ(difference(traits_of(card), {.kind = DeviceKind::cuda,
                                           .sm = 90,
                                           .sm_count = 132,
                                           .shared_per_block = 227 << 10,
                                           .l2_bytes = std::size_t{60} << 20,
                                           .bytes_per_second = 4.8e12}),
              "sm_89 instead of sm_90, 99 KiB of shared memory instead of 227, 96 MiB of L2 instead of 60, 864 GB/s "
              "instead of 4800");
}

}  // namespace
}  // namespace espalier
