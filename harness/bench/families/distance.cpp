#include "reference_cpu/distance.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "harness/base/random.hpp"
#include "harness/bench/families/parallel.hpp"
#include "harness/bench/families/suite.hpp"
#include "harness/bench/families/tables.hpp"
#include "kernels/device/host_array.hpp"
#include "kernels/problems/distance.hpp"

namespace espalier::bench::distance {

using namespace ::espalier::distance;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Every attribute whose number leaves 1 after division by 3 is nominal.
bool is_nominal(std::size_t attribute) { return attribute % 3 == 1; }

device::HostArray<float> attribute_major(const device::HostArray<float>& items, std::int64_t dims) {
    device::HostArray<float> values(items.size());
    if (dims == 0) return values;
    const auto attributes = static_cast<std::size_t>(dims), count = items.size() / attributes;
    in_parallel(dims, [&](std::int64_t attribute) {
        const auto a = static_cast<std::size_t>(attribute);
        for (std::size_t i = 0; i < count; ++i) values[a * count + i] = items[i * attributes + a];
    });
    return values;
}

/// Uniform: -1..1, nominal codes 0..3; a tenth of the cells is missing where that is allowed.
/// Constant: all items equal. Ascending and descending: small whole numbers along the items, so that all
/// arithmetic is exact. Special: NaN, infinities, denormals, signed zeros and 1e17 among ordinary values.
class ItemsWorkload final : public Workload<Problem> {
public:
    ItemsWorkload(const Problem& problem, std::uint64_t seed, Pattern pattern) : problem_(problem), pattern_(pattern) {
        for (std::size_t a = 0; a < static_cast<std::size_t>(problem.dims); ++a)
            types_.push_back(problem.metric == Metric::mixed_euclidean && is_nominal(a) ? AttributeType::nominal
                                                                                        : AttributeType::numeric);
        refresh(seed);
    }

    std::vector<std::span<const std::byte>> inputs() const override {
        return {bytes_of(query_values_), bytes_of(point_values_), bytes_of(query_items_), bytes_of(point_items_),
                bytes_of(types_)};
    }
    std::vector<std::size_t> output_bytes() const override {
        return {static_cast<std::size_t>(problem_.distances()) * sizeof(float)};
    }

    Buffers bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) const override {
        const auto floats = [&](std::size_t i) { return reinterpret_cast<const float*>(in[i]); };
        return {.query_values = floats(0),
                .point_values = floats(1),
                .result = reinterpret_cast<float*>(out[0]),
                .query_items = floats(2),
                .point_items = floats(3),
                .types = reinterpret_cast<const AttributeType*>(in[4]),
                .types_on_host = types_.data()};
    }

    Mismatch check(std::span<const std::span<const std::byte>> outputs, const Tolerance& tolerance) override {
        if (!expected_) compute_expected();
        const auto actual = values_of<float>(outputs[0]);
        const std::size_t at =
            first_where(actual.size(), [&](std::size_t i) { return !close(actual[i], (*expected_)[i], tolerance); });
        return at == actual.size() ? Mismatch{} : Mismatch{describe(at, actual[at])};
    }

    bool adopt(std::span<const std::span<const std::byte>> outputs) override {
        const auto distances = values_of<float>(outputs[0]);
        expected_.emplace(distances.size());
        generate(*expected_, [&](std::size_t i) { return static_cast<double>(distances[i]); });
        sides_ = 2;
        return true;
    }

    void refresh(std::uint64_t seed) override {
        query_items_ = items(problem_.queries, 2 * seed);
        point_items_ = items(problem_.points, 2 * seed + 1);
        query_values_ = attribute_major(query_items_, problem_.dims);
        point_values_ = attribute_major(point_items_, problem_.dims);
        expected_.reset();
        sides_ = 1;
    }

private:
    device::HostArray<float> items(std::int64_t count, std::uint64_t seed) const {
        const auto dims = static_cast<std::size_t>(problem_.dims);
        device::HostArray<float> values(static_cast<std::size_t>(count) * dims);
        generate(values, [&](std::size_t i) { return value(i / dims, i % dims, random_bits(seed, i)); });
        return values;
    }

    float value(std::size_t item, std::size_t attribute, std::uint64_t bits) const {
        if (problem_.missing == Missing::allowed && bits % 10 == 0) return kNan;
        if (pattern_ == Pattern::constant) return 2.5F;
        if (pattern_ == Pattern::ascending) return static_cast<float>((item + attribute) % 7);
        if (pattern_ == Pattern::descending) return static_cast<float>(6 - (item + 2 * attribute) % 7);
        if (pattern_ == Pattern::special && (bits >> 8) % 4 == 0) {
            constexpr std::array specials{kNan, kInfinity, -kInfinity, 0.0F, -0.0F, 1e-40F, -1e-45F, 1e17F, -1e17F};
            return specials[(bits >> 16) % specials.size()];
        }
        if (types_[attribute] == AttributeType::nominal) return static_cast<float>((bits >> 8) % 4);
        return static_cast<float>(static_cast<std::int64_t>(bits >> 11)) * 0x1p-52F - 1.0F;
    }

    void compute_expected() {
        const auto item = [&](const device::HostArray<float>& all, std::int64_t i) {
            return std::span(all).subspan(static_cast<std::size_t>(i * problem_.dims),
                                          static_cast<std::size_t>(problem_.dims));
        };
        device::HostArray<double> distances(static_cast<std::size_t>(problem_.distances()));
        in_parallel(problem_.points, [&](std::int64_t p) {
            for (std::int64_t q = 0; q < problem_.queries; ++q)
                distances[static_cast<std::size_t>(p * problem_.queries + q)] = reference::distance(
                    item(query_items_, q), item(point_items_, p), problem_.metric, problem_.missing, types_);
        });
        expected_ = std::move(distances);
    }

    /// The scale counts roundings: those of a sum of n terms grow like sqrt(n), and each term, root and
    /// quotient adds its own. A cosine distance is a difference of numbers around 1.
    bool close(float actual, double expected, const Tolerance& tolerance) const {
        if (std::isnan(expected)) return std::isnan(actual);
        if (std::isinf(expected)) return static_cast<double>(actual) == expected;
        const double roundings = 8 + std::sqrt(static_cast<double>(problem_.dims));
        const double magnitude = problem_.metric == Metric::cosine ? 1 : expected;
        return std::abs(static_cast<double>(actual) - expected) <=
               sides_ * (tolerance.absolute + tolerance.relative * roundings * magnitude);
    }

    std::string describe(std::size_t at, double actual) const {
        const auto queries = static_cast<std::size_t>(problem_.queries);
        return "the distance of point " + std::to_string(at / queries) + " and query " + std::to_string(at % queries) +
               " is " + std::to_string(actual) + ", expected " + std::to_string((*expected_)[at]);
    }

    Problem problem_;
    Pattern pattern_;
    std::vector<AttributeType> types_;
    device::HostArray<float> query_items_, point_items_, query_values_, point_values_;
    std::optional<device::HostArray<double>> expected_;
    double sides_ = 1;  ///< 2 if what is expected has been rounded too
};

using Sizes = std::vector<std::array<std::int64_t, 2>>;

/// The two metrics that the sources measure at every size and number of attributes; the others, which
/// differ by their arithmetic only, and missing values at 50.
std::vector<Problem> combine(std::span<const std::array<std::int64_t, 2>> sizes, std::span<const std::int64_t> dims) {
    std::vector<Problem> problems;
    for (const auto& [queries, points] : sizes) {
        for (const auto metric : {Metric::euclidean, Metric::mixed_euclidean}) {
            for (const auto d : dims) problems.push_back({queries, points, d, metric, Missing::none});
            problems.push_back({queries, points, 50, metric, Missing::allowed});
        }
        for (const auto metric : {Metric::manhattan, Metric::chebyshev, Metric::cosine})
            problems.push_back({queries, points, 50, metric, Missing::none});
    }
    return problems;
}

std::vector<Problem> cpu_problems(Effort effort) {
    if (effort == Effort::quick)
        return combine(Sizes{{1, 1000}, {100, 300}, {500, 500}}, std::vector<std::int64_t>{4, 50});
    Sizes sizes{{1, 500}, {1, 4000},  {1, 30000}, {4, 4000},   {10, 10},
                {30, 30}, {100, 100}, {300, 300}, {100, 2000}, {700, 700}};
    if (effort == Effort::full) sizes.insert(sizes.end(), {{5000, 5000}, {10000, 10000}});
    return combine(sizes, std::vector<std::int64_t>{2, 16, 50, 210});
}

std::vector<Problem> gpu_problems(Effort effort) {
    if (effort == Effort::quick) return combine(Sizes{{1, 10000}, {1000, 1000}}, std::vector<std::int64_t>{10, 50});
    auto problems = combine(Sizes{{1, 100000}, {100, 100000}, {1000, 1000}, {4096, 16384}, {10000, 10000}},
                            std::vector<std::int64_t>{2, 10, 30, 50, 110, 130, 210});
    for (const auto metric : {Metric::manhattan, Metric::chebyshev, Metric::cosine})
        for (const auto& [queries, points] : Sizes{{100, 100000}, {1000, 1000}})
            for (const std::int64_t dims : {10, 210})
                problems.push_back({queries, points, dims, metric, Missing::none});
    // The sources' other numbers of attributes and their smallest n x n, then beyond both.
    for (const auto metric : {Metric::euclidean, Metric::mixed_euclidean}) {
        for (const std::int64_t dims : {90, 150, 1024}) problems.push_back({10000, 10000, dims, metric, Missing::none});
        for (const auto& [queries, points] : Sizes{{1, 100000}, {100, 100000}, {1000, 1000}})
            for (const std::int64_t dims : {512, 1024})
                problems.push_back({queries, points, dims, metric, Missing::none});
        for (const std::int64_t dims : {10, 50, 210}) problems.push_back({1, 1000000, dims, metric, Missing::none});
        problems.push_back({100, 1000000, 50, metric, Missing::none});
        // A few of one set: as many as are read past at once, and as many as pass by eight times.
        for (const auto& [queries, points] : Sizes{{8, 100000}, {64, 100000}, {100000, 8}})
            for (const std::int64_t dims : {10, 50, 210})
                problems.push_back({queries, points, dims, metric, Missing::none});
        for (const auto missing : {Missing::none, Missing::allowed})
            problems.push_back({5000, 5000, 50, metric, missing});
    }
    if (effort == Effort::standard) return problems;
    for (const auto metric : {Metric::euclidean, Metric::mixed_euclidean})
        for (const std::int64_t dims : {70, 170, 190}) problems.push_back({10000, 10000, dims, metric, Missing::none});
    const auto more =
        combine(Sizes{{50000, 50000}, {100000, 100000}}, std::vector<std::int64_t>{10, 50, 90, 150, 170, 190});
    problems.insert(problems.end(), more.begin(), more.end());
    return problems;
}

std::vector<Problem> default_problems(DeviceKind kind, Effort effort) {
    return kind == DeviceKind::cpu ? cpu_problems(effort) : gpu_problems(effort);
}

std::vector<TypedEdgeCase<Problem>> edge_cases() {
    std::vector<TypedEdgeCase<Problem>> cases;
    for (const auto metric :
         {Metric::euclidean, Metric::mixed_euclidean, Metric::manhattan, Metric::chebyshev, Metric::cosine})
        for (const auto missing : {Missing::none, Missing::allowed}) {
            // Empty and single in every dimension, then around the tiles of 16 and 32, and few queries past rows of
            // 512.
            for (const auto& [queries, points, dims] : {std::array<std::int64_t, 3>{0, 3, 2},
                                                        {3, 0, 2},
                                                        {3, 2, 0},
                                                        {1, 1, 1},
                                                        {1, 17, 3},
                                                        {33, 1, 5},
                                                        {16, 16, 16},
                                                        {15, 33, 17},
                                                        {31, 17, 15},
                                                        {32, 15, 33},
                                                        {1, 1100, 21},
                                                        {6, 513, 9},
                                                        {31, 1030, 7},
                                                        {43, 560, 5},
                                                        {1030, 3, 9}})
                cases.push_back({{queries, points, dims, metric, missing}});
            for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
                cases.push_back({{19, 21, 18, metric, missing}, pattern});
        }
    // Around tiles of 128. Of ascending values neighbours are much nearer to each other than to the mean.
    cases.push_back({{130, 140, 24}});
    cases.push_back({{130, 140, 24}, Pattern::ascending});
    // The attribute types' constant memory holds 16,384.
    for (const std::int64_t dims : {16384, 16385})
        cases.push_back({{2, 3, dims, Metric::mixed_euclidean, Missing::none}, Pattern::ascending});
    return cases;
}

/// A single query to all pairs of a large table.
Domain domain(DeviceKind kind) {
    const bool cpu = kind == DeviceKind::cpu;
    const std::vector<Aligned> queries{{16, 1}, {4, 1}, {1, 1}};
    return {.sizes = {{"queries", 1, cpu ? 10'000 : 100'000, queries},
                      {"points", cpu ? 10 : 100, cpu ? 100'000 : 1'000'000},
                      {"dims", 2, 1024}},
            .alternatives = {metrics(), missing_values()},
            .most_data_bytes = std::size_t{1} << (cpu ? 28 : 32),
            .most_ops = cpu ? 4e8 : 4e11,
            .traces = table_traces()};
}

std::vector<Problem> by_dims(Metric metric, std::initializer_list<std::int64_t> dims) {
    std::vector<Problem> problems;
    for (const std::int64_t d : dims) problems.push_back({10000, 10000, d, metric, Missing::none});
    return problems;
}

/// K7 to K11 are of n by n matrices. The source does not say of how many attributes: K12's 50.
std::vector<Problem> by_n(Metric metric, std::initializer_list<Missing> missing) {
    std::vector<Problem> problems;
    for (const std::int64_t n : {5000, 10000, 50000, 100000})
        for (const Missing m : missing) problems.push_back({n, n, 50, metric, m});
    return problems;
}

/// Test sets of several sizes against 100,000 points of K12's 50 attributes.
std::vector<Problem> test_sets(Metric metric) {
    std::vector<Problem> problems;
    for (const std::int64_t queries : {1, 100, 1000, 10000, 100000})
        problems.push_back({queries, 100000, 50, metric, Missing::none});
    return problems;
}

/// The numbers of attributes are those that the tables print.
std::vector<PublishedTable<Problem>> published() {
    const auto euclidean = Metric::euclidean, mixed = Metric::mixed_euclidean;
    const auto none = Missing::none, allowed = Missing::allowed;
    const std::vector<std::string_view> techniques{
        "global",     "shared_load_tile",           "shared_load_all",
        "texture_2d", "texture_1d:texture_types=0", "texture_1d_shared_tile"};
    return {
        {"K1", by_dims(euclidean, {10, 30, 50, 70, 90, 110}), {"global", "shared_load_tile"}},
        {"K2 K3", by_dims(mixed, {10, 30, 50, 70, 90, 110}), {"shared_load_all", "shared_load_tile"}},
        {"K4", by_dims(mixed, {10, 50, 70, 90, 110, 130, 150, 170, 190, 210}), {"shared_load_all", "shared_load_tile"}},
        {"K5",
         by_dims(euclidean, {10, 30, 50, 70, 90, 110}),
         {"garcia_shared", "shared_load_tile", "texture_1d_shared_tile"}},
        {"K6",
         by_dims(euclidean, {10, 30, 50, 70, 90, 110, 130, 150, 170}),
         {"garcia_shared", "shared_load_tile", "texture_1d_shared_tile"}},
        {"K7", by_n(euclidean, {none, allowed}), {"texture_1d_shared_tile"}},
        {"K8", by_n(mixed, {none, allowed}), {"texture_1d:texture_types=0"}},
        {"K11", by_n(mixed, {none}), {"texture_1d:texture_types=0", "texture_1d:texture_types=1"}},
        // The plugins before the thesis', in its section 3.2, beside the plain kernel.
        {"K-3.2",
         by_dims(euclidean, {10, 50, 110}),
         {"one_warp_partials", "one_warp_shares", "shared_tile_uncoalesced", "global_uncoalesced", "garcia_texture_2d",
          "garcia_shared", "global", "texture_1d_shared_tile"}},
        {"K-diagram5-7", test_sets(euclidean), techniques},
        {"K-diagram5-7-mixed", test_sets(mixed), techniques},
        // K12's other side: the matrix alone on a CPU.
        {"K-cpu", {{1000, 1000, 50, mixed, none}, {5000, 5000, 50, mixed, none}}, {"cpu_scalar", "cpu_openmp"}}};
}

}  // namespace

Suite<Problem> suite() {
    return {.default_problems = default_problems,
            .edge_cases = edge_cases,
            .workload = make_workload<ItemsWorkload>,
            .data_bytes =
                [](const Problem& problem) {
                    const auto values = 2 * (problem.queries + problem.points) * problem.dims + problem.distances();
                    return static_cast<std::size_t>(values) * sizeof(float) + static_cast<std::size_t>(problem.dims);
                },
            .domain = domain,
            .published = published};
}

}  // namespace espalier::bench::distance
