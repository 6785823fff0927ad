#include "reference_cpu/knn.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <utility>

#include "harness/base/random.hpp"
#include "harness/bench/families/knn_check.hpp"
#include "harness/bench/families/knn_data.hpp"
#include "harness/bench/families/knn_stages.hpp"
#include "harness/bench/families/parallel.hpp"
#include "harness/bench/families/suite.hpp"
#include "harness/bench/families/tables.hpp"
#include "kernels/device/host_array.hpp"
#include "kernels/problems/knn.hpp"
#include "reference_cpu/distance.hpp"

namespace espalier::bench::knn {

using namespace ::espalier::knn;

namespace {

bool is_nominal(std::size_t attribute) { return attribute % 3 == 1; }

/// Values are small whole numbers, as those of the digits data set: then all metrics but cosine are exact
/// in single precision, equal distances abound, and the rule for ties is put to the test. Or, where the problem says
/// so, of another kind (knn_data.hpp). Uniform: as the data are, nominal codes 0..3, random classes and targets; a
/// tenth of the cells is missing where that is allowed. Constant: all items equal. Ascending and descending: along the
/// items, classes too. Special: NaN, infinities and signed zeros among them.
class TablesWorkload final : public Workload<Problem> {
public:
    TablesWorkload(const Problem& problem, std::uint64_t seed, Pattern pattern) : problem_(problem), pattern_(pattern) {
        for (std::size_t a = 0; a < dims(); ++a)
            types_.push_back(problem.metric == Metric::mixed_euclidean && is_nominal(a) ? AttributeType::nominal
                                                                                        : AttributeType::numeric);
        refresh(seed);
    }

    /// Queries that are on the host are no input: nothing puts them on the device beforehand.
    std::vector<std::span<const std::byte>> inputs() const override {
        return {on_host() ? std::span<const std::byte>{} : bytes_of(query_values_), bytes_of(point_values_),
                classifies() ? bytes_of(point_classes_) : bytes_of(point_targets_), bytes_of(types_)};
    }
    std::vector<std::size_t> output_bytes() const override { return {static_cast<std::size_t>(problem_.queries) * 4}; }

    Buffers bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) const override {
        Buffers buffers{.query_values = on_host() ? nullptr : reinterpret_cast<const float*>(in[0]),
                        .point_values = reinterpret_cast<const float*>(in[1]),
                        .types = reinterpret_cast<const AttributeType*>(in[3]),
                        .types_on_host = types_.data(),
                        .stages = watched_stages()};
        if (on_host())
            buffers.on_host = {query_values_.data(), point_values_.data(), point_classes_.data(), point_targets_.data(),
                               predictions_on_host_.data()};
        if (classifies()) {
            buffers.point_classes = reinterpret_cast<const std::int32_t*>(in[2]);
            buffers.classes = reinterpret_cast<std::int32_t*>(out[0]);
        } else {
            buffers.point_targets = reinterpret_cast<const float*>(in[2]);
            buffers.targets = reinterpret_cast<float*>(out[0]);
        }
        return buffers;
    }

    Mismatch check(std::span<const std::span<const std::byte>> outputs, const Tolerance& tolerance) override {
        if (on_host() && !std::ranges::equal(predictions_on_host_, outputs[0]))
            return {"the predictions on the host are not those on the device"};
        const auto classes = values_of<std::int32_t>(outputs[0]);
        const auto targets = values_of<float>(outputs[0]);
        for (const auto& [query, check] : checks(error(tolerance))) {
            const auto q = static_cast<std::size_t>(query);
            if (classifies() && !check.accepts_class(classes[q], point_classes_))
                return {
                    describe(query, std::to_string(classes[q]), std::to_string(check.expected_class(point_classes_)))};
            if (!classifies() && !check.accepts_target(targets[q], point_targets_))
                return {
                    describe(query, std::to_string(targets[q]), std::to_string(check.expected_target(point_targets_)))};
        }
        return check_written(classes, targets);
    }

    void pin_stages(const Configuration& configuration) override { knn::pin_stages(configuration); }
    std::vector<std::string> take_stages_run() override { return knn::take_stages_run(); }

    void refresh(std::uint64_t seed) override {
        std::mt19937_64 random(seed);
        query_values_ = items(problem_.queries, 2 * seed, false);
        point_values_ = items(problem_.points, 2 * seed + 1, true);
        const auto points = static_cast<std::size_t>(problem_.points);
        const auto classes = static_cast<std::size_t>(std::max<std::int64_t>(problem_.classes, 1));
        const bool drawn = pattern_ == Pattern::uniform || pattern_ == Pattern::special;
        point_classes_.resize(points);
        point_targets_.resize(points);
        for (std::size_t p = 0; p < points; ++p) {
            point_classes_[p] = static_cast<std::int32_t>((drawn ? random() : p) % classes);
            point_targets_[p] = static_cast<float>(static_cast<std::int64_t>(random() % 2001) - 1000) / 8;
        }
        sample_seed_ = random();
        checks_.clear();
        predictions_on_host_.assign(on_host() ? static_cast<std::size_t>(problem_.queries) * 4 : 0, std::byte{0x5A});
    }

private:
    [[nodiscard]] std::size_t dims() const { return static_cast<std::size_t>(problem_.dims); }
    [[nodiscard]] bool on_host() const { return problem_.queries_in == QueriesIn::host; }
    [[nodiscard]] bool classifies() const { return problem_.task == Task::classification; }

    /// Attribute-major.
    device::HostArray<float> items(std::int64_t count, std::uint64_t seed, bool are_points) const {
        const auto n = static_cast<std::size_t>(count);
        const DrawnRows rows{problem_.data, are_points, n, dims(), seed};
        device::HostArray<float> values(n * dims());
        generate(values, [&](std::size_t i) { return value(rows, i % n, i / n, random_bits(seed, i)); });
        if (problem_.data == Data::directions && pattern_ == Pattern::uniform)
            in_parallel(count,
                        [&](std::int64_t item) { to_unit_length(values, n, static_cast<std::size_t>(item), types_); });
        return values;
    }

    float value(const DrawnRows& rows, std::size_t item, std::size_t attribute, std::uint64_t bits) const {
        using Limits = std::numeric_limits<float>;
        if (problem_.missing == Missing::allowed && bits % 10 == 0) return Limits::quiet_NaN();
        if (pattern_ == Pattern::constant) return 2;
        if (pattern_ == Pattern::ascending) return static_cast<float>((item + attribute) % 7);
        if (pattern_ == Pattern::descending) return static_cast<float>(6 - (item + 2 * attribute) % 7);
        if (pattern_ == Pattern::special && (bits >> 8) % 16 == 0) {
            constexpr std::array specials{Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity(), 0.0F, -0.0F};
            return specials[(bits >> 16) % specials.size()];
        }
        if (types_[attribute] == AttributeType::nominal) return static_cast<float>((bits >> 8) % 4);
        return rows.value(item, attribute, bits);
    }

    /// See `distance` for how roundings add up. A cosine distance is a difference of numbers around 1.
    [[nodiscard]] DistanceError error(const Tolerance& tolerance) const {
        const double off =
            tolerance.absolute + tolerance.relative * (8 + std::sqrt(static_cast<double>(problem_.dims)));
        if (problem_.metric == Metric::cosine) return {.absolute = off};
        const bool scaled = problem_.missing == Missing::allowed && problem_.metric != Metric::chebyshev;
        return {.relative = scaled || problem_.data != Data::whole ? off : 0};
    }

    /// Checks of some queries, kept because outputs for the same inputs are checked many times.
    const std::vector<std::pair<std::int64_t, PredictionCheck>>& checks(const DistanceError& error) {
        if (checks_.empty() || checks_error_ != error) {
            const std::vector<std::int64_t> queries = queries_to_check();
            std::vector<std::optional<PredictionCheck>> made(queries.size());
            in_parallel(static_cast<std::int64_t>(queries.size()), [&](std::int64_t i) {
                const auto at = static_cast<std::size_t>(i);
                made[at].emplace(distances(queries[at]), problem_.k, problem_.vote, error);
            });
            checks_.clear();
            for (std::size_t i = 0; i < queries.size(); ++i) checks_.emplace_back(queries[i], std::move(*made[i]));
            checks_error_ = error;
        }
        return checks_;
    }

    /// All if they are few enough for the oracle, else the last one, which chunks get wrong first, and
    /// random others.
    [[nodiscard]] std::vector<std::int64_t> queries_to_check() const {
        constexpr std::int64_t kTerms = 1 << 25;
        const std::int64_t each = std::max<std::int64_t>(problem_.points * std::max<std::int64_t>(problem_.dims, 1), 1);
        std::vector<std::int64_t> queries;
        if (problem_.queries * each <= kTerms) {
            for (std::int64_t q = 0; q < problem_.queries; ++q) queries.push_back(q);
            return queries;
        }
        queries.push_back(problem_.queries - 1);
        std::mt19937_64 random(sample_seed_);
        for (std::int64_t left = kTerms; left > each; left -= each)
            queries.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(problem_.queries)));
        return queries;
    }

    [[nodiscard]] std::vector<double> distances(std::int64_t query) const {
        std::vector<float> x(dims()), y(dims());
        for (std::size_t a = 0; a < dims(); ++a)
            x[a] = query_values_[a * static_cast<std::size_t>(problem_.queries) + static_cast<std::size_t>(query)];
        const auto points = static_cast<std::size_t>(problem_.points);
        std::vector<double> all(points);
        for (std::size_t p = 0; p < points; ++p) {
            for (std::size_t a = 0; a < dims(); ++a) y[a] = point_values_[a * points + p];
            all[p] = reference::distance(x, y, problem_.metric, problem_.missing, types_);
        }
        return all;
    }

    /// Checks that something plausible was written for the queries that were not checked one by one.
    [[nodiscard]] Mismatch check_written(std::span<const std::int32_t> classes, std::span<const float> targets) const {
        if (pattern_ != Pattern::uniform || problem_.missing != Missing::none || problem_.points == 0 ||
            problem_.k == 0)
            return {};
        for (std::size_t q = 0; q < classes.size(); ++q)
            if (classifies() ? classes[q] < 0 || classes[q] >= problem_.classes : !(std::abs(targets[q]) <= 125))
                return {describe(static_cast<std::int64_t>(q),
                                 classifies() ? std::to_string(classes[q]) : std::to_string(targets[q]), "another")};
        return {};
    }

    [[nodiscard]] std::string describe(std::int64_t query, const std::string& actual,
                                       const std::string& expected) const {
        return std::string("the ") + (classifies() ? "class" : "target") + " of query " + std::to_string(query) +
               " is " + actual + ", expected " + expected;
    }

    Problem problem_;
    Pattern pattern_;
    std::vector<AttributeType> types_;
    device::HostArray<float> query_values_, point_values_;
    std::vector<float> point_targets_;
    std::vector<std::int32_t> point_classes_;
    mutable std::vector<std::byte> predictions_on_host_;  ///< written by variants, through `bind`
    std::uint64_t sample_seed_ = 0;
    std::vector<std::pair<std::int64_t, PredictionCheck>> checks_;
    DistanceError checks_error_;
};

std::vector<Problem> default_problems(DeviceKind kind, Effort effort) {
    struct Size {
        std::int64_t queries, points;
    };
    const bool cpu = kind == DeviceKind::cpu;
    std::vector<Size> sizes{{1, 1000}, {100, 1000}, {1000, 1000}};
    std::vector<std::int64_t> dims{10, 50}, ks{1, 10};
    if (effort != Effort::quick) {
        sizes = cpu ? std::vector<Size>{{1, 10000}, {100, 1000}, {1000, 1000}, {200, 10000}}
                    : std::vector<Size>{{1, 100000}, {1000, 1000}, {10000, 10000}, {1000, 100000}, {100000, 1000}};
        dims = cpu ? std::vector<std::int64_t>{4, 50} : std::vector<std::int64_t>{4, 50, 210};
        ks = {1, 10, 100};
    }
    // K12 and K13: n by n with 50 attributes, nominal ones among them.
    if (effort == Effort::full) sizes.push_back({5000, 5000});
    if (effort == Effort::full && cpu) sizes.push_back({10000, 10000});
    if (effort == Effort::full && !cpu) sizes.insert(sizes.end(), {{50000, 50000}, {100000, 100000}});
    // K9, K10, K14: how much of the way to the device and back can be hidden. A CPU has no such way.
    std::vector<Size> streamed;
    if (!cpu) streamed = {{1000, 1000}, {10000, 10000}, {100000, 1000}};
    if (!cpu && effort != Effort::quick) streamed.insert(streamed.end(), {{1000, 20000}, {3000, 3000}, {20000, 1000}});
    if (!cpu && effort == Effort::full)
        streamed.insert(streamed.end(), {{5000, 5000}, {50000, 50000}, {1000000, 1000}});
    std::vector<Problem> problems;
    for (const auto& [queries, points] : sizes)
        for (const auto d : dims)
            for (const auto k : ks)
                for (const auto metric : {Metric::euclidean, Metric::mixed_euclidean}) {
                    // dims and metric are the first stage's business, k the second's: no need for all triples.
                    if (k != 10 && (metric != Metric::euclidean || d != 50)) continue;
                    problems.push_back({.queries = queries, .points = points, .dims = d, .k = k, .metric = metric});
                    if (metric != Metric::euclidean) continue;
                    problems.push_back(problems.back());
                    problems.back().data = Data::continuous;
                }
    if (!cpu && effort != Effort::quick)
        for (const std::int64_t queries : {1, 300})
            for (const auto metric : {Metric::euclidean, Metric::mixed_euclidean})
                problems.push_back({.queries = queries, .points = 1000000, .k = 10, .metric = metric});
    for (const auto& [queries, points] : streamed)
        for (const auto metric : {Metric::euclidean, Metric::mixed_euclidean})
            problems.push_back(
                {.queries = queries, .points = points, .k = 10, .metric = metric, .queries_in = QueriesIn::host});
    return problems;
}

void add_sizes(std::vector<TypedEdgeCase<Problem>>& cases, Problem problem) {
    // Empty and single in every dimension, k at and beyond the points, one class, and odd sizes.
    for (const auto& [queries, points, dims, k, classes] : {std::array<std::int64_t, 5>{0, 5, 2, 1, 2},
                                                            {3, 0, 2, 1, 2},
                                                            {3, 5, 0, 2, 2},
                                                            {3, 5, 2, 0, 2},
                                                            {1, 1, 1, 1, 1},
                                                            {1, 9, 3, 9, 3},
                                                            {4, 9, 3, 12, 3},
                                                            {33, 17, 5, 1, 2},
                                                            {31, 65, 4, 7, 1},
                                                            {40, 33, 2, 6, 100}}) {
        problem.queries = queries, problem.points = points, problem.dims = dims;
        problem.k = k, problem.classes = classes;
        cases.push_back({problem});
    }
}

std::vector<TypedEdgeCase<Problem>> edge_cases() {
    std::vector<TypedEdgeCase<Problem>> cases;
    for (const auto vote : {Vote::majority, Vote::distance_weighted})
        for (const auto task : {Task::classification, Task::regression}) {
            add_sizes(cases, {.vote = vote, .task = task});
            for (const auto metric :
                 {Metric::euclidean, Metric::mixed_euclidean, Metric::manhattan, Metric::chebyshev, Metric::cosine})
                for (const auto missing : {Missing::none, Missing::allowed})
                    cases.push_back({{21, 35, 7, 5, 4, metric, missing, vote, task}});
            for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
                for (const std::int64_t k : {1, 6, 30}) {
                    Problem problem{.queries = 13, .points = 25, .dims = 3, .k = k, .classes = 3};
                    problem.vote = vote, problem.task = task;
                    cases.push_back({problem, pattern});
                }
        }
    for (const auto task : {Task::classification, Task::regression})
        for (const auto metric : {Metric::mixed_euclidean, Metric::euclidean})
            add_sizes(cases, {.metric = metric, .task = task, .queries_in = QueriesIn::host});
    for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
        for (const auto vote : {Vote::majority, Vote::distance_weighted}) {
            Problem problem{.queries = 3, .points = 25, .dims = 2, .k = 6, .classes = 3};
            problem.vote = vote, problem.queries_in = QueriesIn::host;
            cases.push_back({problem, pattern});
        }
    for (const auto metric : {Metric::euclidean, Metric::manhattan, Metric::chebyshev, Metric::cosine})
        for (const std::int64_t dims : {2, 30}) {
            Problem problem{.queries = 40, .points = 300, .dims = dims, .k = 7, .classes = 3, .metric = metric};
            problem.data = Data::continuous;
            cases.push_back({problem});
        }
    for (const auto data : {Data::clusters, Data::far_clusters, Data::directions, Data::images, Data::duplicates,
                            Data::outlier, Data::places, Data::times})
        for (const auto metric : {Metric::euclidean, Metric::cosine}) {
            Problem problem{.queries = 40, .points = 300, .dims = 5, .k = 7, .classes = 3, .metric = metric};
            problem.data = data;
            cases.push_back({problem});
        }
    // More than one chunk for the smallest budget of every pipeline, and the longest list.
    cases.push_back({{.queries = 700, .points = 600, .dims = 2}});
    cases.push_back({{.queries = 2, .points = 1100, .dims = 2, .k = 1024, .classes = 7}});
    return cases;
}

/// How tables lie. Trees learn from problems drawn here: of a CPU there are rows of the first two alone.
Alternatives kinds_of_data(bool cpu) {
    Alternatives kinds{"data", {}};
    for (const std::string_view name : std::span(kDataNames).first(cpu ? 2 : std::size(kDataNames)))
        kinds.values.push_back({name, 1});
    return kinds;
}

/// A single query to the sources' n by n.
Domain domain(DeviceKind kind) {
    const bool cpu = kind == DeviceKind::cpu;
    // A CPU's queries are where it is.
    const int host = cpu ? 0 : 1;
    return {.sizes = {{"queries", 1, cpu ? 10'000 : 100'000},
                      {"points", cpu ? 16 : 100, cpu ? 100'000 : 1'000'000},
                      {"dims", 2, 1024},
                      {"k", 1, 128},
                      {"classes", 2, 100}},
            .alternatives = {metrics(),
                             missing_values(),
                             {"vote", {{"majority", 1}, {"distance_weighted", 1}}},
                             {"task", {{"classification", 2}, {"regression", 1}}},
                             {"queries_in", {{"device", 3}, {"host", host}}},
                             kinds_of_data(cpu)},
            .orders = {{"k", "points"}},
            .most_data_bytes = std::size_t{1} << (cpu ? 28 : 32),
            .most_ops = cpu ? 4e8 : 5e10,
            .traces = table_traces()};
}

/// Every query of one against as many points, with the 50 attributes and the 10 neighbours of K12.
std::vector<Problem> squares(Metric metric, std::initializer_list<std::int64_t> sizes) {
    std::vector<Problem> problems;
    for (const std::int64_t n : sizes)
        problems.push_back(
            {.queries = n, .points = n, .dims = 50, .k = 10, .metric = metric, .queries_in = QueriesIn::host});
    return problems;
}

/// The thesis' own stages on the cards of K12 and of K13: what its trees choose for mixed attributes, though before
/// Fermi the 1-D texture only where no 2-D texture holds the points, and the k best in registers.
std::vector<Configuration> pinned(const Variant<Problem>& variant) {
    std::vector<Configuration> all;
    if (variant.name != "asynchronous" && variant.name != "two_stage") return all;
    for (const std::string_view distance : {"distance.shared_load_all", "distance.texture_1d"})
        for (Configuration configuration : variant.space.enumerate()) {
            configuration.push_back({distance, 1});
            configuration.push_back({"smallest_k.register_insertion", 1});
            all.push_back(configuration);
        }
    return all;
}

/// A training set of 10,000 against test sets from memory of the host and of the device: the first two differ by what
/// could be hidden behind the kernels.
std::vector<Problem> test_sets(QueriesIn queries_in) {
    std::vector<Problem> problems;
    for (const std::int64_t n : {5000, 10000, 50000, 100000})
        problems.push_back({.queries = n, .points = 10000, .dims = 50, .k = 10, .queries_in = queries_in});
    return problems;
}

/// The sources' data come from the host and so do ours.
std::vector<PublishedTable<Problem>> published() {
    // The first two differ in the overlap alone: both have page-locked memory and as many chunks. The last has pageable
    // memory, as `synchronous` with pinned=0.
    const std::vector<std::string_view> overlap{"asynchronous:chunks=8",          "asynchronous:chunks=32",
                                                "synchronous:chunks=8",           "synchronous:chunks=32",
                                                "asynchronous_pageable:chunks=8", "asynchronous_pageable:chunks=32"};
    // A CPU's queries are where it is.
    const auto printed_sizes = squares(Metric::mixed_euclidean, {1000, 5000, 10000, 50000, 100000});
    std::vector<Problem> on_the_cpu = printed_sizes;
    for (Problem& problem : on_the_cpu) problem.queries_in = QueriesIn::device;
    std::vector<Problem> single_queries;
    for (std::int64_t n = 1024; n <= 262144; n *= 2)
        single_queries.push_back({.queries = 1, .points = n, .dims = 2, .k = 10, .queries_in = QueriesIn::host});
    std::vector<Problem> kinds;
    for (const auto vote : {Vote::majority, Vote::distance_weighted})
        for (const auto task : {Task::classification, Task::regression})
            for (const auto missing : {Missing::none, Missing::allowed})
                kinds.push_back({.queries = 10000,
                                 .points = 10000,
                                 .dims = 50,
                                 .k = 10,
                                 .missing = missing,
                                 .vote = vote,
                                 .task = task});
    return {
        {"K9", squares(Metric::euclidean, {5000, 10000, 50000, 100000}), overlap},
        {"K10", squares(Metric::mixed_euclidean, {5000, 10000, 50000, 100000}), overlap},
        {"K12 K13", printed_sizes, {"asynchronous:chunks=8", "two_stage", "fused_tile"}},
        {"K12", printed_sizes, {"asynchronous:chunks=8;distance.shared_load_all=1;smallest_k.register_insertion=1"}},
        {"K13", printed_sizes, {"asynchronous:chunks=8;distance.texture_1d=1;smallest_k.register_insertion=1"}},
        {"K12 K13", on_the_cpu, {"cpu_two_stage:budget_mib=64"}},
        {"K-diagram10", test_sets(QueriesIn::host), {"asynchronous:chunks=8", "synchronous:chunks=8;pinned=1"}},
        {"K-diagram10", test_sets(QueriesIn::device), {"two_stage:budget_mib=1024"}},
        // The plugin before the thesis' that it calls the most competitive, beside today's pipelines.
        {"K-3.2.3",
         squares(Metric::euclidean, {1000, 10000}),
         {"tile_rank", "two_stage:budget_mib=1024", "fused_tile"}},
        {"P1", single_queries, {"enumeration_sort"}},
        // Who computes, sorts and votes (K 3.2.2, 5.4): each stage on the CPU or on the GPU.
        {"K-placement", squares(Metric::euclidean, {1000, 5000}), {"placement"}},
        // K 5.4 describes this and prints no figures of it.
        {"K-5.4", kinds, {"two_stage:budget_mib=1024"}}};
}

}  // namespace

Suite<Problem> suite() {
    return {.default_problems = default_problems,
            .edge_cases = edge_cases,
            .workload = make_workload<TablesWorkload>,
            .data_bytes =
                [](const Problem& problem) {
                    const auto values = (problem.queries + problem.points) * (problem.dims + 1);
                    return static_cast<std::size_t>(values) * sizeof(float) + static_cast<std::size_t>(problem.dims);
                },
            .domain = domain,
            .published = published,
            .pinned = pinned,
            // A vote takes k additions, by the same function after every search.
            .inert = {"classes", "vote", "task"}};
}

}  // namespace espalier::bench::knn
