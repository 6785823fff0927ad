// The searches of few queries list the neighbours that the two stages give, to the bit, and vote as they do: however
// the points are cut into slices and tiles, in whatever order they lie, and where many are equally far.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/base/bench_memory.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/dispatch/choose.hpp"
#include "registries/distance/registry.hpp"
#include "registries/knn/registry.hpp"
#include "variants/knn/few_screening.hpp"

namespace espalier::knn {
namespace {

using bench::BenchMemory;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The bits of every output; all NaN are one.
struct Outputs {
    std::vector<std::uint32_t> predictions, distances;
    std::vector<std::int32_t> indices;
    std::vector<std::byte> workspace;  ///< as it is left behind
};

using Value = std::function<float(std::int64_t item, std::int64_t attribute, std::mt19937&)>;

float uniform(std::int64_t, std::int64_t, std::mt19937& random) {
    return std::uniform_real_distribution<float>(-1, 1)(random);
}

template <class T>
std::vector<T> downloaded(const BenchMemory& memory) {
    std::vector<T> values(memory.size() / sizeof(T));
    memory.load(0, std::as_writable_bytes(std::span(values)));
    return values;
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
    std::vector<std::uint32_t> bits;
    for (const float value : values) bits.push_back(std::bit_cast<std::uint32_t>(value == value ? value : kNan));
    return bits;
}

/// The distance stage is the one that adds up term after term; of others the bits may differ.
Chosen<distance::Problem> direct(const distance::Problem&, const DeviceInfo&) {
    for (const auto& entry : distance::registry())
        if (entry.variant.name == "global") return {&entry.variant, entry.variant.space.enumerate().front()};
    throw std::logic_error("distance/global is gone");
}

/// A problem with its arrays on the host executor.
class Search {
public:
    Search(const Problem& problem, const Value& value) : problem_(problem) {
        std::mt19937 random(11);
        const auto items = [&](std::int64_t count) {
            std::vector<float> all(static_cast<std::size_t>(count * problem.dims));
            for (std::int64_t a = 0; a < problem.dims; ++a)
                for (std::int64_t i = 0; i < count; ++i)
                    all[static_cast<std::size_t>(a * count + i)] = value(i, a, random);
            return all;
        };
        store(queries_, items(problem.queries));
        store(points_, items(problem.points));
        for (std::int64_t a = 0; a < problem.dims; ++a)
            types_.push_back(a % 3 == 1 ? AttributeType::nominal : AttributeType::numeric);
        store(types_on_device_, types_);
        std::vector<std::int32_t> classes;
        std::vector<float> targets;
        for (std::int64_t p = 0; p < problem.points; ++p) {
            classes.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(problem.classes)));
            targets.push_back(static_cast<float>(random() % 1000) / 7);
        }
        store(classes_, classes);
        store(targets_, targets);
    }

    Outputs run(const Registered<Problem>& entry, const Configuration& configuration, const DeviceInfo& device) const {
        const auto queries = static_cast<std::size_t>(problem_.queries), k = static_cast<std::size_t>(problem_.k);
        BenchMemory predictions(device.kind, queries * 4), distances(device.kind, queries * k * 4),
            indices(device.kind, queries * k * 4);
        const std::size_t bytes = entry.variant.workspace(problem_, configuration, device);
        BenchMemory workspace(device.kind, bytes);
        workspace.fill(0, bytes, 0xFF);
        const bool classifies = problem_.task == Task::classification;
        Buffers buffers{.query_values = reinterpret_cast<const float*>(queries_->data()),
                        .point_values = reinterpret_cast<const float*>(points_->data()),
                        .types = reinterpret_cast<const AttributeType*>(types_on_device_->data()),
                        .types_on_host = types_.data(),
                        .neighbour_distances = reinterpret_cast<float*>(distances.data()),
                        .neighbour_indices = reinterpret_cast<std::int32_t*>(indices.data()),
                        .stages = {direct, choose<smallest_k::Problem>}};
        if (classifies) {
            buffers.point_classes = reinterpret_cast<const std::int32_t*>(classes_->data());
            buffers.classes = reinterpret_cast<std::int32_t*>(predictions.data());
        } else {
            buffers.point_targets = reinterpret_cast<const float*>(targets_->data());
            buffers.targets = reinterpret_cast<float*>(predictions.data());
        }
        Context context{device, nullptr, {workspace.data(), bytes}};
        entry.variant.run(context, problem_, buffers, configuration);
        return {classifies ? downloaded<std::uint32_t>(predictions) : bits_of(downloaded<float>(predictions)),
                bits_of(downloaded<float>(distances)), downloaded<std::int32_t>(indices),
                downloaded<std::byte>(workspace)};
    }

private:
    template <class T>
    static void store(std::optional<BenchMemory>& to, const std::vector<T>& values) {
        to.emplace(DeviceKind::cuda, values.size() * sizeof(T));
        to->store(0, std::as_bytes(std::span(values)));
    }

    Problem problem_;
    std::optional<BenchMemory> queries_, points_, types_on_device_, classes_, targets_;
    std::vector<AttributeType> types_;
};

const Registered<Problem>& named(std::string_view name) {
    return *std::ranges::find_if(registry(), [&](const auto& entry) { return entry.variant.name == name; });
}

class Few : public testing::TestWithParam<const Registered<Problem>*> {
protected:
    /// A device of few multiprocessors has few slices, each of several tiles.
    void expect_two_stages(const Problem& problem, const Value& value, const std::string& what) {
        DeviceInfo device = device::open(0);
        const Search search(problem, value);
        const Registered<Problem>& two_stage = named("two_stage");
        const Outputs wanted = search.run(two_stage, two_stage.variant.space.enumerate().front(), device);
        for (const int multiprocessors : {1, 132})
            for (const Configuration& configuration : GetParam()->variant.space.enumerate()) {
                device.sm_count = multiprocessors;
                if (!supports(*GetParam(), problem, configuration, device)) continue;
                SCOPED_TRACE(what + " " + configuration.text() +
                             ", multiprocessors: " + std::to_string(multiprocessors));
                const Outputs found = search.run(*GetParam(), configuration, device);
                EXPECT_EQ(found.indices, wanted.indices);
                EXPECT_EQ(found.distances, wanted.distances);
                EXPECT_EQ(found.predictions, wanted.predictions);
                ++ran_;
            }
    }
    void TearDown() override { EXPECT_GT(ran_, 0); }

    int ran_ = 0;
};

TEST_P(Few, SizesAroundEveryTile) {
    for (const std::int64_t queries : {1, 2, 8, 9, 33, 128})
        for (const std::int64_t points : {1, 31, 257, 513, 1300})
            for (const std::int64_t dims : {3})
                expect_two_stages(
                    {.queries = queries, .points = points, .dims = dims, .k = 7}, uniform,
                    std::to_string(queries) + " x " + std::to_string(points) + " x " + std::to_string(dims));
}

TEST_P(Few, SeveralTilesOfASlice) {
    for (const std::int64_t queries : {1, 40})
        for (const auto metric : {Metric::euclidean, Metric::cosine})
            expect_two_stages({.queries = queries, .points = 9001, .dims = 6, .k = 20, .metric = metric}, uniform,
                              std::to_string(queries) + " queries");
}

TEST_P(Few, AnyWidth) {
    for (const std::int64_t dims : {0, 3, 4, 64, 65, 130, 2000})
        for (const auto metric : {Metric::euclidean, Metric::cosine, Metric::manhattan})
            for (const std::int64_t queries : {1, 20})
                expect_two_stages({.queries = queries, .points = 400, .dims = dims, .k = 9, .metric = metric}, uniform,
                                  std::to_string(dims) + " attributes");
}

TEST_P(Few, AnyK) {
    for (const std::int64_t k : {1, 2, 24, 25, 31, 32, 33, 64, 100, 128})
        for (const std::int64_t points : {20, 1500})
            for (const std::int64_t queries : {1, 12})
                expect_two_stages({.queries = queries, .points = points, .dims = 3, .k = k}, uniform,
                                  "k = " + std::to_string(k) + " of " + std::to_string(points));
}

TEST_P(Few, MetricsAndMissingValues) {
    const auto with_gaps = [](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
        return random() % 5 == 0 ? kNan : uniform(item, attribute, random);
    };
    const auto codes = [](std::int64_t, std::int64_t, std::mt19937& random) {
        return static_cast<float>(random() % 3);
    };
    for (const auto metric :
         {Metric::euclidean, Metric::mixed_euclidean, Metric::manhattan, Metric::chebyshev, Metric::cosine})
        for (const std::int64_t queries : {1, 20})
            for (const std::int64_t dims : {3, 70}) {
                Problem problem{.queries = queries, .points = 700, .dims = dims, .k = 10, .metric = metric};
                expect_two_stages(problem, codes, "codes");
                problem.missing = Missing::allowed;
                expect_two_stages(problem, with_gaps, "gaps");
            }
}

TEST_P(Few, ManyEquallyFar) {
    for (const unsigned values : {1U, 2U, 16U})
        for (const std::int64_t queries : {1, 20})
            for (const std::int64_t k : {9, 128}) {
                const auto below = [&](std::int64_t, std::int64_t, std::mt19937& random) {
                    return static_cast<float>(random() % values);
                };
                expect_two_stages({.queries = queries, .points = 1400, .dims = 2, .k = k}, below,
                                  std::to_string(values) + " values");
            }
}

/// Every point nearer than all before it, or farther: a list is disturbed by all or none.
TEST_P(Few, PointsInOrder) {
    for (const float step : {1.0F, -1.0F})
        for (const std::int64_t k : {1, 10, 100}) {
            const auto value = [&](std::int64_t item, std::int64_t, std::mt19937&) {
                return step * static_cast<float>(item);
            };
            expect_two_stages({.queries = 9, .points = 6000, .dims = 2, .k = k}, value, std::to_string(step));
        }
}

TEST_P(Few, NanAndInfinities) {
    for (const auto metric : {Metric::euclidean, Metric::cosine})
        for (const int share : {2, 40, 4000})
            for (const std::int64_t queries : {2, 30}) {
                const auto value = [&](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
                    if (random() % static_cast<unsigned>(share) == 0)
                        return std::vector{kNan, kInfinity, -kInfinity, -0.0F}[random() % 4];
                    return uniform(item, attribute, random);
                };
                expect_two_stages({.queries = queries, .points = 1100, .dims = 5, .k = 40, .metric = metric}, value,
                                  "one in " + std::to_string(share));
            }
}

TEST_P(Few, TinyHugeAndFarValues) {
    for (const float scale : {1e-44F, 1e-22F, 1e17F, 1e19F, 3e38F, 1.0F})
        for (const auto metric : {Metric::euclidean, Metric::cosine}) {
            const auto value = [&](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
                return (scale == 1.0F ? 1e4F : 0.0F) + scale * uniform(item, attribute, random);
            };
            expect_two_stages({.queries = 30, .points = 900, .dims = 20, .k = 6, .metric = metric}, value,
                              std::to_string(scale));
        }
}

TEST_P(Few, VotesAndTasks) {
    for (const auto vote : {Vote::majority, Vote::distance_weighted})
        for (const auto task : {Task::classification, Task::regression})
            for (const std::int64_t k : {0, 1, 30, 90})
                for (const std::int64_t points : {0, 3, 900}) {
                    const Problem problem{
                        .queries = 10, .points = points, .dims = 2, .k = k, .classes = 5, .vote = vote, .task = task};
                    const auto grid = [](std::int64_t, std::int64_t, std::mt19937& random) {
                        return static_cast<float>(random() % 40);
                    };
                    expect_two_stages(problem, grid, "k = " + std::to_string(k) + " of " + std::to_string(points));
                }
}

/// How many queries the screen leaves to the direct search.
std::int32_t given_up(const Problem& problem, const Value& value) {
    const DeviceInfo device = device::open(0);
    const Outputs outputs = Search(problem, value).run(named("few_screened"), {}, device);
    std::int32_t count = -1;
    std::memcpy(&count, outputs.workspace.data() + few::ScreenLayout(problem, device).given_up, sizeof count);
    return count;
}

TEST(FewScreened, SettlesWhatProductsTellApart) {
    for (const auto metric : {Metric::euclidean, Metric::cosine})
        for (const std::int64_t dims : {4, 40, 300})
            for (const std::int64_t k : {1, 10, 100}) {
                SCOPED_TRACE(std::to_string(dims) + " attributes, k = " + std::to_string(k));
                EXPECT_EQ(given_up({.queries = 20, .points = 2000, .dims = dims, .k = k, .metric = metric}, uniform),
                          0);
            }
    const auto far_away = [](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
        return 1e5F + uniform(item, attribute, random);
    };
    EXPECT_EQ(given_up({.queries = 20, .points = 2000, .dims = 10, .k = 10}, far_away), 0);
}

TEST(FewScreened, GivesUpWhatTheyDoNot) {
    const auto alike = [](std::int64_t, std::int64_t, std::mt19937&) { return 3.0F; };
    const auto far_apart = [](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
        return 1e5F * static_cast<float>(item % 3) + uniform(item, attribute, random);
    };
    const auto one_is_not_finite = [](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
        return item == 7 && attribute == 2 ? kInfinity : uniform(item, attribute, random);
    };
    const Problem problem{.queries = 20, .points = 2000, .dims = 10, .k = 10};
    EXPECT_EQ(given_up(problem, alike), 20);
    EXPECT_EQ(given_up(problem, far_apart), 13);         // all but those of the middle cluster, where the centre is
    EXPECT_EQ(given_up(problem, one_is_not_finite), 1);  // the query; a single point is on every list
}

// A screen gives up few or many of the queries, whose search is cut for as many as they are.
TEST_P(Few, ManyThatLieCloseTogether) {
    for (const int every : {1, 2, 40, 1000}) {
        const auto some_beside_others = [&](std::int64_t item, std::int64_t attribute, std::mt19937& random) {
            return 1e5F * static_cast<float>(item % every == 0) + static_cast<float>(item % 7 == 0) +
                   uniform(item, attribute, random) * (item % every == 0 ? 0.01F : 1.0F);
        };
        expect_two_stages({.queries = 20, .points = 3000, .dims = 2, .k = 5}, some_beside_others,
                          "one of " + std::to_string(every));
    }
}

TEST_P(Few, ManyCopiesOfFewPoints) {
    for (const auto metric : {Metric::euclidean, Metric::cosine})
        for (const std::int64_t queries : {17, 70})
            expect_two_stages(
                {.queries = queries, .points = 5000, .dims = 4, .k = 10, .metric = metric},
                [](std::int64_t item, std::int64_t attribute, std::mt19937&) {
                    return static_cast<float>((item % 3 + 1) * (attribute + 2) % 7);
                },
                std::to_string(queries) + " queries");
}

/// Of one multiprocessor, whose two blocks of small groups have a slice each.
TEST(FewScreened, GivenUpAreSearchedForByGroupsAsLargeAsTheyAreMany) {
    const auto groups = [](std::int64_t queries, std::int64_t points, bool may_be_large = true) {
        const few::GivenUpCut cut = few::cut_of_given_up(queries, points, 2, may_be_large);
        return std::array<std::int64_t, 3>{cut.groups, cut.each, cut.per_thread};
    };
    EXPECT_EQ(groups(0, 7000), (std::array<std::int64_t, 3>{1, 8, 4}));
    EXPECT_EQ(groups(16, 7000), (std::array<std::int64_t, 3>{2, 8, 4}));
    EXPECT_EQ(groups(17, 7000), (std::array<std::int64_t, 3>{1, 32, 4}));
    EXPECT_EQ(groups(70, 7000), (std::array<std::int64_t, 3>{3, 32, 4}));
    EXPECT_EQ(groups(70, 7000, false), (std::array<std::int64_t, 3>{9, 8, 4})) << "no room for large ones";
    EXPECT_EQ(groups(17, 2000), (std::array<std::int64_t, 3>{3, 8, 1})) << "too few points for wide tiles";
}

/// The bound's share of the norms holds for sums that lose all that tensor cores may lose.
TEST(FewScreened, ErrorsGrowWithAttributes) {
    for (const std::int64_t dims : {1, 16, 17, 768, 16'384}) {
        EXPECT_GT(few::product_error(dims), 3 * 40 * 0x1p-23 + 3 * 0x1p-16);
        EXPECT_GT(few::square_error(dims), few::product_error(dims));
        EXPECT_LT(few::square_error(dims), 5e-4);
    }
}

std::vector<const Registered<Problem>*> few_variants() {
    std::vector<const Registered<Problem>*> all;
    for (const auto& entry : registry())
        if (entry.variant.name.starts_with("few_")) all.push_back(&entry);
    return all;
}

INSTANTIATE_TEST_SUITE_P(Knn, Few, testing::ValuesIn(few_variants()),
                         [](const auto& entry) { return std::string(entry.param->variant.name); });

}  // namespace
}  // namespace espalier::knn
