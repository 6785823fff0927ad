// Values, sizes and metrics of every kind (fused_tables.hpp).

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "tests/variants/fused_tables.hpp"

namespace espalier::knn {
namespace {

TEST_P(Fused, SizesAroundEveryTileAndBlock) {
    for (const std::int64_t queries : {1, 8, 32, 33, 65, 301})
        for (const std::int64_t points : {1, 23, 49, 64, 127, 129, 1030})
            for (const std::int64_t dims : {1, 3, 8, 33}) {
                const Problem problem{.queries = queries, .points = points, .dims = dims, .k = 7};
                expect_direct(problem, uniform,
                              std::to_string(queries) + " x " + std::to_string(points) + " x " + std::to_string(dims));
            }
}

TEST_P(Fused, AnyK) {
    for (const std::int64_t k : {1, 2, 15, 16, 17, 100, 1000, 1024})
        for (const std::int64_t queries : {3, 40})
            expect_direct({.queries = queries, .points = 3000, .dims = 5, .k = k}, uniform, "k = " + std::to_string(k));
}

TEST_P(Fused, OtherMetrics) {
    for (const auto metric : {Metric::manhattan, Metric::chebyshev, Metric::cosine})
        for (const std::int64_t queries : {2, 130})
            for (const std::int64_t dims : {1, 2, 9, 70})
                expect_direct({.queries = queries, .points = 1111, .dims = dims, .k = 10, .metric = metric}, uniform,
                              std::string(distance::kMetricNames[static_cast<std::size_t>(metric)]));
}

/// Packed and not, with copies of rows and without, on few queries and many.
TEST_P(Fused, DirectionsOfAnyShape) {
    for (const auto& [queries, points, dims] : std::vector<std::array<std::int64_t, 3>>{
             {1, 128, 5}, {8, 1000, 33}, {33, 1000, 33}, {70, 20000, 130}, {600, 500, 12}}) {
        const auto value = [&](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
            const auto group = static_cast<float>((item % 7 + attribute) % 7);
            return group + std::uniform_real_distribution<float>(-1, 1)(random);
        };
        expect_direct({.queries = queries, .points = points, .dims = dims, .k = 11, .metric = Metric::cosine}, value,
                      std::to_string(queries) + " x " + std::to_string(points) + " x " + std::to_string(dims));
    }
}

TEST_P(Fused, ItemsWithoutALength) {
    for (const int share : {1, 2, 30})
        for (const std::int64_t queries : {3, 90}) {
            const auto value = [&](std::int64_t item, std::int64_t, std::mt19937& random) {
                return item % share == 0 ? 0 : std::uniform_real_distribution<float>(-1, 1)(random);
            };
            expect_direct({.queries = queries, .points = 700, .dims = 6, .k = 9, .metric = Metric::cosine}, value,
                          "one in " + std::to_string(share));
        }
}

/// Of few queries the points' lengths are summed beside the products, a run at a time.
TEST_P(Fused, LengthsOfPointsOfManyMagnitudes) {
    for (const std::int64_t queries : {3, 7})
        for (const std::int64_t points : {129, 1000, 5000})
            for (const int same : {1, 40}) {
                const auto value = [&](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
                    const auto turned = static_cast<float>((item / same * 7 + attribute * attribute) % 13 - 6);
                    return turned * std::exp2(static_cast<float>(item % 60 - 30)) +
                           (same == 1 ? std::uniform_real_distribution<float>(-1, 1)(random) : 0.0F);
                };
                expect_direct({.queries = queries, .points = points, .dims = 17, .k = 4, .metric = Metric::cosine},
                              value, std::to_string(points) + " points, as often as " + std::to_string(same));
            }
}

/// Products of lengths in single precision that are 0 or infinite say nothing.
TEST_P(Fused, QueriesOfOtherMagnitudesThanThePoints) {
    for (const float scale : {1e-34F, 1e-30F, 1e25F, 1e35F}) {
        Tables data = tables({.queries = 4, .points = 700, .dims = 6, .k = 9, .metric = Metric::cosine}, uniform);
        for (float& value : data.queries) value *= scale;
        for (float& value : data.points) value *= scale < 1 ? 1e-11F : 1e3F;
        for (const int threads : {1, 2})
            EXPECT_TRUE(run(data, threads) == expected(data)) << scale << ", " << threads << " threads";
    }
}

/// Closer together than the product's roundings: the screen leaves all of them.
TEST_P(Fused, AlmostTheSameDirection) {
    for (const std::int64_t queries : {5, 300}) {
        const auto value = [](std::int64_t, std::int64_t attribute, std::mt19937& random) {
            return static_cast<float>(attribute + 1) + 1e-4F * std::uniform_real_distribution<float>(-1, 1)(random);
        };
        expect_direct({.queries = queries, .points = 2000, .dims = 20, .k = 6, .metric = Metric::cosine}, value,
                      "almost the same");
    }
}

TEST_P(Fused, ManyEquallyFar) {
    const auto below = [](unsigned n) {
        return [n](std::int64_t, std::int64_t, std::mt19937& random) { return static_cast<float>(random() % n); };
    };
    for (const auto metric : {Metric::euclidean, Metric::cosine})
        for (const std::int64_t queries : {4, 400})
            for (const unsigned values : {1U, 2U, 16U})
                expect_direct({.queries = queries, .points = 900, .dims = 4, .k = 9, .metric = metric}, below(values),
                              std::to_string(values) + " values");
}

/// What the screen's bound is far too wide for: the direct form decides, and soon does all.
TEST_P(Fused, GroupsFarApart) {
    const auto value = [](std::int64_t item, std::int64_t, std::mt19937& random) {
        return static_cast<float>(item % 3) * 1e6F + std::uniform_real_distribution<float>(-1, 1)(random);
    };
    for (const std::int64_t queries : {70, 800})
        expect_direct({.queries = queries, .points = 800, .dims = 6, .k = 5}, value, "far apart");
}

TEST_P(Fused, FarFromTheOrigin) {
    const auto value = [](std::int64_t, std::int64_t, std::mt19937& random) {
        return 1e4F + std::uniform_real_distribution<float>(-1, 1)(random);
    };
    expect_direct({.queries = 200, .points = 1000, .dims = 20, .k = 8}, value, "at 10,000");
}

TEST_P(Fused, TinyAndHugeValues) {
    for (const auto metric : {Metric::euclidean, Metric::cosine})
        for (const float scale : {1e-44F, 1e-30F, 1e-22F, 1e-19F, 1e-12F, 1e17F, 1e18F, 1e19F, 1e30F, 3e38F})
            for (const std::int64_t queries : {2, 90}) {
                const auto value = [&](std::int64_t, std::int64_t, std::mt19937& random) {
                    return scale * std::uniform_real_distribution<float>(-1, 1)(random);
                };
                expect_direct({.queries = queries, .points = 500, .dims = 4, .k = 6, .metric = metric}, value,
                              std::to_string(scale));
            }
}

TEST_P(Fused, NanAndInfinities) {
    for (const auto metric : {Metric::euclidean, Metric::manhattan, Metric::chebyshev, Metric::cosine})
        for (const int share : {2, 40, 4000})
            for (const std::int64_t queries : {2, 130}) {
                const auto value = [&](std::int64_t, std::int64_t, std::mt19937& random) {
                    if (random() % static_cast<unsigned>(share) == 0)
                        return std::vector{kNan, kInfinity, -kInfinity, -0.0F}[random() % 4];
                    return std::uniform_real_distribution<float>(-1, 1)(random);
                };
                expect_direct({.queries = queries, .points = 400, .dims = 5, .k = 12, .metric = metric}, value,
                              "one in " + std::to_string(share));
            }
}

/// Values whose upper 8 bits are the same: what a screen of two halves is told by is in the lower ones, or in none.
TEST_P(Fused, CloseTogetherInTheUpperBits) {
    for (const auto metric : {Metric::euclidean, Metric::cosine})
        for (const float apart : {0x1p-7F, 0x1p-13F, 0x1p-20F})
            for (const std::int64_t dims : {31, 32, 65}) {
                const auto value = [&](std::int64_t, std::int64_t attribute, std::mt19937& random) {
                    const float middle = attribute % 2 == 0 ? 1.5F : -3.0F;
                    return middle * (1 + apart * std::uniform_real_distribution<float>(-1, 1)(random));
                };
                expect_direct({.queries = 70, .points = 1000, .dims = dims, .k = 6, .metric = metric}, value,
                              std::to_string(apart) + " apart, " + std::to_string(dims) + " attributes");
            }
}

/// What a screen of 8 bits is told by is less than a step of a row's largest value, in some rows or in all.
TEST_P(Fused, OneLargeValueInARow) {
    for (const auto metric : {Metric::euclidean, Metric::cosine})
        for (const int share : {1, 10})
            for (const float large : {30.0F, 1e3F, 1e7F}) {
                const auto value = [&](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
                    const float small = std::uniform_real_distribution<float>(-1, 1)(random);
                    return item % share == 0 && attribute == item % 7 ? large + small : small;
                };
                for (const std::int64_t queries : {70, 400})
                    expect_direct({.queries = queries, .points = 2500, .dims = 66, .k = 11, .metric = metric}, value,
                                  std::to_string(large) + " in one row of " + std::to_string(share));
            }
}

/// Points by turns near to all queries and far: lists that are cut, and compared, before all points are seen.
TEST_P(Fused, PointsThatComeNearer) {
    for (const auto metric : {Metric::euclidean, Metric::cosine})
        for (const std::int64_t points : {3000, 40000}) {
            const auto value = [&](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
                const float noise = std::uniform_real_distribution<float>(-1, 1)(random);
                const float far = item < 100 ? 0 : 2 - 2 * static_cast<float>(item) / static_cast<float>(points);
                return static_cast<float>(attribute % 5) - 2 + noise * (0.05F + far);
            };
            expect_direct({.queries = 100, .points = points, .dims = 20, .k = 10, .metric = metric}, value,
                          std::to_string(points) + " points");
        }
}

/// One query cannot be screened, the points and the other queries can.
TEST_P(Fused, AQueryThatIsNotFinite) {
    for (const auto metric : {Metric::euclidean, Metric::cosine}) {
        Tables data = tables({.queries = 400, .points = 900, .dims = 7, .k = 5, .metric = metric}, uniform);
        for (const float value : {kNan, kInfinity}) {
            data.queries[3 * 400 + 170] = value;
            EXPECT_TRUE(run(data, 2) == expected(data));
        }
    }
}

/// Of a table that one block of queries reads once, a part comes to such points when it has listed others. The nearest
/// ones are too short to be brought to unit length.
TEST_P(Fused, PointsThatAScreenMayNotSee) {
    for (const auto metric : {Metric::euclidean, Metric::cosine})
        for (const float scale : {1e-41F, kNan}) {
            Tables data = tables({.queries = 40, .points = 20000, .dims = 130, .k = 5, .metric = metric}, uniform);
            for (std::size_t a = 0; a < 130; ++a)
                for (std::size_t q = 0; q < 40; ++q)
                    data.points[a * 20000 + 17000 + q] = data.queries[a * 40 + q] * (a == 0 ? -scale : scale);
            const Lists wanted = expected(data);
            for (const int threads : {1, 2, 5})
                EXPECT_TRUE(run(data, threads) == wanted) << scale << ", " << threads << " threads";
        }
}

TEST_P(Fused, SaysWhatWorkspaceItLacks) {
    const Tables data = tables({.queries = 100, .points = 900, .dims = 7, .k = 5}, uniform);
    std::vector<std::byte> workspace(16);
    Context context{device_, nullptr, workspace};
    try {
        variant().run(context, data.problem, {}, {});
        FAIL() << "ran";
    } catch (const device::DeviceError& error) {
        EXPECT_TRUE(error.out_of_memory());
        EXPECT_NE(std::string(error.what()).find("bytes of workspace, given are 16"), std::string::npos)
            << error.what();
    }
}

TEST_P(Fused, DeclinesWhatItDoesNotKnow) {
    const auto reason = [&](const Problem& problem) { return variant().supports(problem, {}, device_).reason; };
    const bool of_products = variant().name == "cpu_fused_amx" || variant().name == "cpu_fused_vnni";
    const std::string differences = of_products ? "the metric adds up differences, not products" : "";
    EXPECT_EQ(reason({.metric = Metric::mixed_euclidean}), "nominal attributes");
    for (const auto metric : {Metric::manhattan, Metric::chebyshev}) EXPECT_EQ(reason({.metric = metric}), differences);
    for (const auto metric : {Metric::euclidean, Metric::cosine}) EXPECT_EQ(reason({.metric = metric}), "");
    EXPECT_EQ(reason({.missing = Missing::allowed}), "missing values");
    EXPECT_EQ(reason({.k = 1025}), "k above 1,024");
    DeviceInfo old = device_;
    old.avx2 = old.avx512 = old.avx512_vnni = old.amx_bf16 = false;
    EXPECT_FALSE(variant().supports({}, {}, old));
}

INSTANTIATE_TEST_SUITE_P(Knn, Fused, testing::ValuesIn(fused()),
                         [](const auto& fused) { return std::string(fused.param->variant.name); });

}  // namespace
}  // namespace espalier::knn
