// What split halves may lose, beside the oracle: items whose halves are at their worst, that lie far from the centre,
// are of other sizes than each other, or hold what is not finite. Linked once with the host executor, which rounds
// every sum, and once with the GPU, which truncates.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ostream>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "harness/base/bench_memory.hpp"
#include "harness/bench/families/suite.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/problems/distance.hpp"
#include "reference_cpu/distance.hpp"
#include "variants/distance/accumulator.hpp"

namespace espalier::distance {
Variant<Problem> split_products();
}  // namespace espalier::distance

namespace espalier::bench::distance {

using namespace ::espalier::distance;

namespace {

using Floats = std::numeric_limits<float>;
using Random = std::mt19937;

float uniform(Random& random, float from, float to) { return std::uniform_real_distribution<float>(from, to)(random); }

/// Values of an item, in place of what `item` holds.
using Draw = void (*)(Random& random, std::size_t number, std::span<float> item);

struct Kind {
    const char* name;
    Draw draw;
    double cosine = 1;         ///< of what direct sums are allowed
    bool cosine_only = false;  ///< squares leave the range of single precision

    friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
};

void fill(Random& random, std::span<float> item, float from, float to) {
    for (float& value : item) value = uniform(random, from, to);
}

/// Low halves, and what rounding leaves of them, as large as there are, and the same in all attributes: what the split
/// loses adds up to 8 roundings, and those of the sums are all alike. A direct sum is allowed 12 of 16 attributes.
void draw_worst_halves(Random&, std::size_t number, std::span<float> item) {
    constexpr std::array kMantissas{1 + 0x1p-11F - 0x1p-23F, 1 + 0x1p-11F + 0x1p-10F - 0x3p-23F,
                                    1 + 0x1p-12F + 0x1p-22F, 1.5F + 0x1p-11F - 0x1p-23F, 0.1F};
    std::ranges::fill(item, std::ldexp(kMantissas[number % kMantissas.size()], static_cast<int>(number % 5) - 2));
}

/// Within an attribute from 1 down to what halves lose.
void draw_wide(Random& random, std::size_t, std::span<float> item) {
    for (float& value : item) value = std::ldexp(uniform(random, -1, 1), -static_cast<int>(random() % 40));
}

void draw_clusters(Random& random, std::size_t number, std::span<float> item) {
    const auto centre = static_cast<float>(number % 4) * 1000;
    fill(random, item, centre - 1, centre + 1);
}

void draw_sizes(Random& random, std::size_t number, std::span<float> item) {
    const int exponent = static_cast<int>(number % 7) * 15 - 45;
    fill(random, item, std::ldexp(-1.0F, exponent), std::ldexp(1.0F, exponent));
}

void draw_special(Random& random, std::size_t number, std::span<float> item) {
    fill(random, item, -1, 1);
    constexpr std::array kSpecials{
        Floats::quiet_NaN(), Floats::infinity(), -Floats::infinity(), Floats::denorm_min(), -0.0F, 1e17F};
    if (number % 3 != 0) item[random() % item.size()] = kSpecials[number % kSpecials.size()];
    if (number % 5 == 0) std::ranges::fill(item, 0.0F);
}

constexpr std::array kKinds{
    Kind{"Uniform", [](Random& random, std::size_t, std::span<float> item) { fill(random, item, -1, 1); }},
    Kind{"OfOneSign", [](Random& random, std::size_t, std::span<float> item) { fill(random, item, 0.5F, 1); }},
    Kind{"WorstHalves", draw_worst_halves, 2},
    Kind{"Wide", draw_wide},
    Kind{"Clusters", draw_clusters},
    Kind{"FarFromZero", [](Random& random, std::size_t, std::span<float> item) { fill(random, item, 1e6F, 1e6F + 8); }},
    Kind{"OfOtherSizes", draw_sizes},
    Kind{"Special", draw_special},
    Kind{"NearZero",
         [](Random& random, std::size_t number, std::span<float> item) {
             fill(random, item, -1, 1);
             for (float& value : item) value *= number % 2 == 0 ? 1e-18F : 1e-25F;
         }},
    Kind{"Zeros", [](Random&, std::size_t, std::span<float> item) { std::ranges::fill(item, 0.0F); }},
    Kind{"Huge",
         [](Random& random, std::size_t, std::span<float> item) {
             for (float& value : item) value = uniform(random, -1, 1) * Floats::max();
         },
         1, true}};

/// A problem with data; points are drawn after the queries, and every third of them is a query once more, or nearly.
class Case {
public:
    Case(const Problem& problem, const Kind& kind) : problem_(problem) {
        Random random(7);
        const auto dims = static_cast<std::size_t>(problem.dims);
        for (auto [items, count] : {std::pair{&queries_, problem.queries}, std::pair{&points_, problem.points}})
            for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
                items->emplace_back(dims);
                kind.draw(random, i, items->back());
            }
        for (std::size_t p = 0; p < points_.size(); p += 3) {
            points_[p] = queries_[p % queries_.size()];
            if (p % 2 == 1) points_[p][p % dims] *= 1 + 0x1p-9F;
        }
    }

    /// How far the distances are off, as a share of what is allowed; infinite where they are of another kind.
    [[nodiscard]] double worst(const Configuration& configuration, const DeviceInfo& device) const {
        const Variant<Problem> variant = split_products();
        const std::vector<float> actual = run(variant, configuration, device);
        double worst = 0;
        for (std::size_t p = 0; p < points_.size(); ++p)
            for (std::size_t q = 0; q < queries_.size(); ++q) {
                const double expected =
                    reference::distance(queries_[q], points_[p], problem_.metric, problem_.missing, {});
                worst = std::max(worst, share(actual[p * queries_.size() + q], expected, variant.tolerance));
            }
        return worst;
    }

private:
    /// Of what the family allows; cosine distances are held to what direct sums are.
    [[nodiscard]] double share(float actual, double expected, const Tolerance& tolerance) const {
        if (std::isnan(expected)) return std::isnan(actual) ? 0 : Floats::infinity();
        if (std::isinf(expected)) return static_cast<double>(actual) == expected ? 0 : Floats::infinity();
        if (std::isnan(actual)) return Floats::infinity();
        const double roundings = 8 + std::sqrt(static_cast<double>(problem_.dims));
        const double allowed = problem_.metric == Metric::cosine
                                   ? kDirectSum.relative * roundings
                                   : tolerance.absolute + tolerance.relative * roundings * expected;
        return std::abs(static_cast<double>(actual) - expected) / allowed;
    }

    [[nodiscard]] std::vector<float> run(const Variant<Problem>& variant, const Configuration& configuration,
                                         const DeviceInfo& device) const {
        const BenchMemory queries = uploaded(device, queries_), points = uploaded(device, points_);
        const std::size_t bytes = variant.workspace(problem_, configuration, device);
        BenchMemory workspace(device.kind, bytes);
        workspace.fill(0, bytes, 0xFF);
        std::vector<float> distances(queries_.size() * points_.size());
        BenchMemory result(device.kind, distances.size() * sizeof(float));
        Context context{device, nullptr, {workspace.data(), bytes}};
        variant.run(context, problem_,
                    {.query_values = reinterpret_cast<const float*>(queries.data()),
                     .point_values = reinterpret_cast<const float*>(points.data()),
                     .result = reinterpret_cast<float*>(result.data())},
                    configuration);
        result.load(0, std::as_writable_bytes(std::span(distances)));
        return distances;
    }

    static BenchMemory uploaded(const DeviceInfo& device, const std::vector<std::vector<float>>& items) {
        std::vector<float> values;
        for (std::size_t a = 0; a < items[0].size(); ++a)
            for (const auto& item : items) values.push_back(item[a]);
        BenchMemory memory(device.kind, values.size() * sizeof(float));
        memory.store(0, std::as_bytes(std::span(values)));
        return memory;
    }

    Problem problem_;
    std::vector<std::vector<float>> queries_, points_;
};

class SplitProducts : public testing::TestWithParam<Kind> {};

TEST_P(SplitProducts, AreAsGoodAsSinglePrecision) {
    if (device::count() == 0) GTEST_SKIP() << device::unavailable_reason();
    DeviceInfo device = device::open(0);
    device.sm_count = 1;  // a block has several tiles
    const Variant<Problem> variant = split_products();
    // Around slices of 32 attributes, sums of 64, and tiles of 128 queries: of one slice, three and four there are
    // tiles enough for a block to go from one to the next. The last two are long.
    for (const auto& [queries, points, dims] : {std::array<std::int64_t, 3>{5, 7, 16},
                                                {140, 194, 32},
                                                {6, 9, 63},
                                                {130, 200, 65},
                                                {132, 200, 97},
                                                {7, 131, 768},
                                                {5, 6, 4096}})
        for (const auto metric : {Metric::euclidean, Metric::cosine}) {
            if (GetParam().cosine_only && metric != Metric::cosine) continue;
            const Problem problem{queries, points, dims, metric, Missing::none};
            const Case data(problem, GetParam());
            for (const Configuration& configuration : variant.space.enumerate()) {
                if (!variant.supports(problem, configuration, device)) continue;
                const double worst = data.worst(configuration, device);
                EXPECT_LE(worst, metric == Metric::cosine ? GetParam().cosine : 1)
                    << queries << " x " << points << " x " << dims << (metric == Metric::cosine ? " cosine " : " ")
                    << configuration.text();
                RecordProperty(std::to_string(dims) + (metric == Metric::cosine ? "_cosine_" : "_euclidean_") +
                                   std::to_string(configuration["points"]),
                               std::to_string(worst));
            }
        }
}

std::string name_of(const testing::TestParamInfo<Kind>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Kinds, SplitProducts, testing::ValuesIn(kKinds), name_of);

}  // namespace
}  // namespace espalier::bench::distance
