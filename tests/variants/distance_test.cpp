// What the edge cases of variants_test cannot reach: the limits of devices, met exactly, one below and
// one above.

#include <gtest/gtest.h>

#include "harness/bench/families/family.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

const Family& family() { return *find_family("distance"); }

Support supports(std::string_view variant, const std::string& problem, const DeviceInfo& device) {
    const std::size_t v = family().find(variant);
    return family().supports(v, problem, family().variants()[v].configurations[0], device);
}

std::string problem(std::int64_t queries, std::int64_t points, std::int64_t dims,
                    const std::string& metric = "euclidean") {
    return "queries=" + std::to_string(queries) + ";points=" + std::to_string(points) +
           ";dims=" + std::to_string(dims) + ";metric=" + metric;
}

/// Runs the default configuration as if the device were as described; what is wrong with the result.
std::string run(std::string_view variant, const std::string& key, const DeviceInfo& device) {
    const std::size_t v = family().find(variant);
    const auto bench = family().bench(key, 7, Pattern::uniform, device);
    bench->run(v, family().variants()[v].configurations[0]);
    return bench->check(v).description;
}

TEST(DistanceLimits, SharedMemoryForAllAttributes) {
    DeviceInfo device = device::open(0);
    const auto most = static_cast<std::int64_t>(device.shared_per_block_optin / 128);
    EXPECT_TRUE(supports("shared_load_all", problem(5, 5, most - 1), device));
    EXPECT_TRUE(supports("shared_load_all", problem(5, 5, most), device));
    EXPECT_FALSE(supports("shared_load_all", problem(5, 5, most + 1), device));
    EXPECT_EQ(run("shared_load_all", problem(5, 5, most), device), "");
}

TEST(DistanceLimits, SharedMemoryForTilesOfSplitHalves) {
    DeviceInfo device = device::open(0);
    const std::size_t v = family().find("split_products");
    const auto fit = [&](std::size_t bytes) {
        device.shared_per_block_optin = bytes;
        std::string tiles;
        for (const Configuration& configuration : family().variants()[v].configurations)
            if (family().supports(v, problem(5, 5, 16), configuration, device))
                tiles += std::to_string(configuration["points"]) + " ";
        return tiles;
    };
    EXPECT_EQ(fit(232448), "64 128 192 ");  // compute capability 9.0
    EXPECT_EQ(fit(166912), "64 ");          // 8.0
    EXPECT_EQ(fit(101376), "64 ");          // 8.6 and 8.9
    EXPECT_EQ(fit(65536), "");
    device.sm = 75;
    EXPECT_EQ(fit(232448), "");
}

TEST(DistanceLimits, LinearTextures) {
    DeviceInfo device = device::open(0);
    device.texture_1d_linear_floats = 60;
    for (const auto* variant : {"texture_1d", "texture_1d_shared_tile"}) {
        EXPECT_TRUE(supports(variant, problem(12, 3, 5), device)) << variant;
        EXPECT_TRUE(supports(variant, problem(3, 12, 5), device)) << variant;
        EXPECT_FALSE(supports(variant, problem(61, 3, 1), device)) << variant;
        EXPECT_FALSE(supports(variant, problem(3, 61, 1), device)) << variant;
    }
}

TEST(DistanceLimits, PitchedTexturesLimitPointsButNotQueries) {
    DeviceInfo device = device::open(0);
    device.texture_2d_width = 20;
    device.texture_2d_height = 9;
    for (const auto* variant : {"texture_2d", "garcia_texture_2d"}) {
        EXPECT_TRUE(supports(variant, problem(61, 19, 8), device)) << variant;
        EXPECT_TRUE(supports(variant, problem(61, 20, 9), device)) << variant;
        EXPECT_FALSE(supports(variant, problem(61, 21, 9), device)) << variant;
        EXPECT_FALSE(supports(variant, problem(61, 20, 10), device)) << variant;
        for (const std::int64_t queries : {19, 20, 21, 40, 41, 61})
            EXPECT_EQ(run(variant, problem(queries, 20, 9), device), "") << variant << " " << queries;
    }
    device.texture_2d_pitch = 64;  // the pitch allows fewer floats than the width
    EXPECT_TRUE(supports("texture_2d", problem(61, 16, 9), device));
    EXPECT_FALSE(supports("texture_2d", problem(61, 17, 9), device));
    EXPECT_EQ(run("texture_2d", problem(61, 16, 9), device), "");
}

TEST(DistanceLimits, PitchedTexturesInPlaceAndCopied) {
    const DeviceInfo device = device::open(0);
    for (const std::int64_t points : {7, 8, 9, 16})  // 8 floats are one pitch alignment
        EXPECT_EQ(run("texture_2d", problem(points + 8, points, 3), device), "") << points;
}

TEST(DistanceLimits, BlocksOfTheGrid) {
    const DeviceInfo device = device::open(0);
    EXPECT_TRUE(supports("one_warp_partials", problem(1, 2147483647, 2), device));
    EXPECT_FALSE(supports("one_warp_partials", problem(1, 2147483648, 2), device));
    EXPECT_FALSE(supports("one_warp_partials", problem(65536, 65536, 2), device));
    EXPECT_TRUE(supports("shared_load_tile", problem(65536, 65536, 2), device));
    EXPECT_FALSE(supports("shared_load_tile", problem(std::int64_t{1} << 20, std::int64_t{1} << 20, 2), device));
}

TEST(DistanceLimits, TypesInTextureAreForMixedAttributes) {
    const DeviceInfo device = device::open(0);
    const std::size_t v = family().find("texture_1d");
    const Configuration in_texture{{"texture_types", 1}};
    EXPECT_FALSE(family().supports(v, problem(3, 3, 3), in_texture, device));
    EXPECT_TRUE(family().supports(v, problem(3, 3, 3, "mixed_euclidean"), in_texture, device));
}

}  // namespace
}  // namespace espalier::bench
