#include "espalier/exact_knn.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>
#include <variant>

#include "kernels/api/arrays.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/api/exact_search.hpp"
#include "kernels/api/exact_table.hpp"
#include "kernels/api/exact_vote.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/api/items.hpp"
#include "kernels/api/knn_model.hpp"
#include "kernels/api/progress.hpp"
#include "kernels/core/thread_errors.hpp"
#include "kernels/dispatch/refusal.hpp"

namespace espalier::inline v1 {

/// A training set in double precision, and the model in single precision that finds candidates in it.
struct ExactKnnModel {
    using Finder = std::variant<KnnClassifier, KnnRegressor>;

    exact::Table table;
    std::int64_t k = 1, candidates = 1;
    Vote vote = Vote::majority;
    std::vector<std::int32_t> classes;
    std::vector<double> targets;
    Device device;
    Finder finder, finder_with_missing;  ///< of the latter the queries may have missing cells

    [[nodiscard]] const KnnBase& finder_for(bool missing) const {
        return std::visit([](const auto& model) -> const KnnBase& { return model; },
                          missing ? finder_with_missing : finder);
    }
};

namespace {

/// Beside the k nearest: so many more are listed by the device, in whose order they may be elsewhere.
std::int64_t candidates_for(std::int64_t k, std::int64_t points) {
    return std::max<std::int64_t>(1, std::min({2 * k + 16, points, kMaxSmallestK}));
}

/// Queries at a time, so that these and their candidates stay within some 16 MiB.
std::int64_t queries_at_once(const ExactKnnModel& model, std::int64_t queries) {
    constexpr std::int64_t kEntries = std::int64_t{1} << 20;
    return std::min(queries, std::max<std::int64_t>(256, kEntries / (model.candidates + model.table.points().dims)));
}

std::optional<Error> not_on_host(const Options& options) {
    if (auto error = invalid_threads(options)) return error;
    if (options.memory == Memory::host) return std::nullopt;
    if (auto error = invalid_memory(options.memory)) return error;
    return invalid("Options::memory is device, but models in double precision read and write host memory");
}

std::int64_t values_in(const ItemsOfDoubles& items) { return items.count * items.dims; }

Items shape_of(const ItemsOfDoubles& items) { return {nullptr, items.count, items.dims, items.layout, items.stride}; }

ArraySpec spec_of(std::string_view name, const ItemsOfDoubles& items) {
    const bool by_item = items.layout == Layout::item_major;
    return in_rows(input_of<double>(name, values_in(items)), by_item ? items.count : items.dims, items.stride);
}

std::optional<Error> invalid_fit(const Device& device, const ItemsOfDoubles& points, std::span<const std::byte> labels,
                                 std::size_t label_bytes, const char* name, const NeighbourRule& rule,
                                 const Options& options) {
    if (auto error = not_on_host(options)) return error;
    if (auto refused = refused_k(rule.k)) return invalid(std::move(*refused));
    if (auto error = invalid_comparison({nullptr, 0, points.dims}, shape_of(points), rule.distance)) return error;
    if (auto refused = refused_count("points.count", points.count)) return invalid(std::move(*refused));
    if (static_cast<std::int64_t>(labels.size() / label_bytes) != points.count)
        return invalid("there are " + std::to_string(points.count) + " points, but " +
                       std::to_string(labels.size() / label_bytes) + " " + name);
    const std::array specs{spec_of("points.values", points)};
    const Pointers<1> pointers{const_cast<double*>(points.values)};
    return wrong_arrays({&state_of(device), Memory::host}, specs, pointers, {});
}

/// How candidates are found: cosine as the euclidean distance of items at unit length, and without looking for NaN
/// where there is none.
NeighbourRule finding_rule(const exact::Table& table, const std::vector<AttributeType>& types,
                           const NeighbourRule& rule) {
    NeighbourRule finding{
        .k = candidates_for(rule.k, table.points().count), .distance = rule.distance, .vote = rule.vote};
    if (rule.distance.metric == Metric::cosine) finding.distance.metric = Metric::euclidean;
    if (!table.points().missing) finding.distance.missing = Missing::none;
    finding.distance.types = types;
    return finding;
}

template <class Finder, class Label>
Result<std::shared_ptr<ExactKnnModel>> fitted(const Device& device, const ItemsOfDoubles& points,
                                              std::span<const Label> labels, const NeighbourRule& rule,
                                              const Options& options) {
    const HostThreads threads(state_of(device), options);
    exact::Table table(points, rule.distance);
    const NeighbourRule finding = finding_rule(table, table.types(), rule);
    const std::vector<float> floats = table.floats(table.points());
    auto finder = Finder::fit(device, {floats.data(), points.count, table.float_dims()}, labels, finding,
                              {.stream = options.stream, .threads = options.threads});
    if (!finder) return finder.error();
    const std::int64_t candidates = finding.k;
    return std::make_shared<ExactKnnModel>(ExactKnnModel{std::move(table),
                                                         rule.k,
                                                         candidates,
                                                         rule.vote,
                                                         {},
                                                         {},
                                                         device,
                                                         finder.value(),
                                                         finder.value().allowing_missing()});
}

/// Where the results of a call go; null for what nobody wants to know.
struct Results {
    std::int32_t* classes = nullptr;
    double* targets = nullptr;
    double* distances = nullptr;
    std::int32_t* indices = nullptr;
    MatrixLayout layout = MatrixLayout::row_major;
    std::int64_t stride = 0;
};

Results lists(const ExactNeighbourLists& to) {
    return {.distances = to.distances, .indices = to.indices, .layout = to.layout, .stride = to.stride};
}

std::optional<Error> invalid_queries(const ExactKnnModel& model, const ItemsOfDoubles& queries) {
    const exact::Rows& points = model.table.points();
    const DistanceRule rule{model.table.metric(), model.table.missing_rule(), model.table.types()};
    if (auto error = invalid_comparison(shape_of(queries), {nullptr, points.count, points.dims}, rule)) return error;
    return invalid_sizes({{"queries.count", queries.count}, {"candidates", model.candidates}});
}

std::optional<Error> wrong_results(const ExactKnnModel& model, const ItemsOfDoubles& queries, const Results& results) {
    const std::int64_t entries = queries.count * model.k;
    const bool by_query = results.layout == MatrixLayout::row_major;
    if (auto error = invalid_lists(results.layout, results.stride, queries.count, model.k)) return error;
    const std::int64_t rows = by_query ? queries.count : model.k;
    const std::array specs{
        spec_of("queries.values", queries), output_of<std::int32_t>("classes", results.classes ? queries.count : 0),
        output_of<double>("targets", results.targets ? queries.count : 0),
        in_rows(output_of<double>("distances", results.distances ? entries : 0), rows, results.stride),
        in_rows(output_of<std::int32_t>("indices", results.indices ? entries : 0), rows, results.stride)};
    const Pointers<5> pointers{const_cast<double*>(queries.values), results.classes, results.targets, results.distances,
                               results.indices};
    return wrong_arrays({&state_of(model.device), Memory::host}, specs, pointers, {});
}

void write(const ExactKnnModel& model, std::span<const exact::Neighbour> found, std::int64_t query,
           std::int64_t queries, const Results& results) {
    if (results.classes) results.classes[query] = exact::predict(found, model.vote, model.classes);
    if (results.targets) results.targets[query] = exact::predict(found, model.vote, model.targets);
    const bool by_query = results.layout == MatrixLayout::row_major;
    const std::int64_t stride = results.stride != 0 ? results.stride : by_query ? model.k : queries;
    for (std::int64_t j = 0; j < model.k; ++j) {
        const bool listed = j < static_cast<std::int64_t>(found.size());
        const std::int64_t at = by_query ? query * stride + j : j * stride + query;
        const auto neighbour = static_cast<std::size_t>(j);
        if (results.distances)
            results.distances[at] = listed ? found[neighbour].distance : std::numeric_limits<double>::quiet_NaN();
        if (results.indices) results.indices[at] = listed ? found[neighbour].index : kNoIndex;
    }
}

bool has_missing(const double* item, std::int64_t dims) {
    return std::any_of(item, item + dims, [](double value) { return std::isnan(value); });
}

/// The device's lists for some queries, and how exact answers are made of them.
class Block {
public:
    Block(const ExactKnnModel& model, const ItemsOfDoubles& queries, std::int64_t first, std::int64_t count)
        : model_(model),
          all_(queries.count),
          first_(first),
          count_(count),
          queries_(exact::rows_of(queries, model.table.metric(), first, count)) {}

    Result<void> find(const Options& options) {
        const bool allowed = model_.table.missing_rule() == Missing::allowed;
        const bool missing = allowed && (queries_.missing || model_.table.points().missing || queries_.dims == 0);
        // Lengths at unit length differ from pair to pair then: the device knows no bound.
        if (missing && model_.table.metric() == Metric::cosine) return {};
        candidates_ = model_.candidates;
        distances_.resize(static_cast<std::size_t>(count_ * candidates_));
        indices_.resize(distances_.size());
        const std::vector<float> floats = model_.table.floats(queries_);
        return model_.finder_for(missing).kneighbors({floats.data(), count_, model_.table.float_dims()},
                                                     {distances_.data(), indices_.data(), MatrixLayout::transposed},
                                                     {.stream = options.stream,
                                                      .deterministic = options.deterministic,
                                                      .variant = options.variant,
                                                      .threads = options.threads});
    }

    void answer(const Results& results) const {
        const exact::Table& table = model_.table;
        const bool allowed = table.missing_rule() == Missing::allowed;
        ThreadErrors errors;
#pragma omp parallel
        {
            std::vector<exact::Neighbour> found;
#pragma omp for schedule(dynamic, 16)
            for (std::int64_t q = 0; q < count_; ++q)
                errors.guard([&] {
                    const double* const query = queries_.of(q);
                    const bool missing =
                        allowed && (table.points().missing || queries_.dims == 0 || has_missing(query, queries_.dims));
                    exact::find_nearest(table, query, missing, model_.k, candidates_of(q), found);
                    write(model_, found, first_ + q, all_, results);
                });
        }
        errors.rethrow();
    }

private:
    [[nodiscard]] exact::Candidates candidates_of(std::int64_t query) const {
        if (candidates_ == 0) return {nullptr, nullptr, 0, 0};
        return {distances_.data() + query, indices_.data() + query, candidates_, count_};
    }

    const ExactKnnModel& model_;
    std::int64_t all_, first_, count_, candidates_ = 0;
    exact::Rows queries_;
    std::vector<float> distances_;
    std::vector<std::int32_t> indices_;
};

Result<void> ask(const ExactKnnModel& model, const ItemsOfDoubles& queries, const Results& results,
                 const Options& options) {
    if (auto error = not_on_host(options)) return *error;
    if (auto error = invalid_queries(model, queries)) return *error;
    if (auto error = wrong_results(model, queries, results)) return *error;
    const HostThreads threads(state_of(model.device), options);
    const Progress progress(options);
    std::int64_t at_once = queries_at_once(model, queries.count);
    if (progress.is_wanted())
        at_once = std::min(at_once, items_in_part(values_in({nullptr, model.table.points().count, queries.dims}),
                                                  model.device.is_cuda()));
    progress.at_start();
    for (std::int64_t first = 0; first < queries.count; first += at_once) {
        Block block(model, queries, first, std::min(at_once, queries.count - first));
        if (auto found = block.find(options); !found) return found.error();
        block.answer(results);
        progress.after(std::min(first + at_once, queries.count), queries.count);
    }
    progress.at_end();
    return {};
}

}  // namespace

Result<ExactNeighbours> ExactKnnBase::kneighbors(const ItemsOfDoubles& queries, const Options& options) const {
    return guarded([&]() -> Result<ExactNeighbours> {
        if (auto error = invalid_queries(*present(model_), queries)) return *error;
        ExactNeighbours neighbours{queries.count, model_->k, {}, {}};
        neighbours.distances.resize(static_cast<std::size_t>(queries.count * model_->k));
        neighbours.indices.resize(neighbours.distances.size());
        const auto done =
            ask(*model_, queries, {.distances = neighbours.distances.data(), .indices = neighbours.indices.data()},
                options);
        if (!done) return done.error();
        return neighbours;
    });
}

Result<Explanation> ExactKnnBase::explain_predict(std::int64_t queries, const Options& options, Missing missing) const {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_missing(missing)) return *error;
        const ExactKnnModel& model = *present(model_);
        const bool allowed = missing == Missing::allowed && model.table.missing_rule() == Missing::allowed;
        return model.finder_for(allowed).explain_predict(queries_at_once(model, queries), options);
    });
}

std::size_t ExactKnnBase::predict_bytes(std::int64_t queries) const noexcept {
    if (!model_) return 0;
    const std::int64_t at_once = queries_at_once(*model_, queries);
    const std::int64_t dims = model_->table.float_dims();
    return static_cast<std::size_t>(at_once * dims) * (sizeof(double) + 2 * sizeof(float)) +
           static_cast<std::size_t>(at_once * model_->candidates) * (sizeof(float) + sizeof(std::int32_t));
}

Result<ExactKnnClassifier> ExactKnnClassifier::fit(const Device& device, const ItemsOfDoubles& points,
                                                   std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                                   const Options& options) {
    return guarded([&]() -> Result<ExactKnnClassifier> {
        if (auto error =
                invalid_fit(device, points, std::as_bytes(classes), sizeof(classes[0]), "classes", rule, options))
            return *error;
        auto model = fitted<KnnClassifier>(device, points, classes, rule, options);
        if (!model) return model.error();
        model.value()->classes.assign(classes.begin(), classes.end());
        return ExactKnnClassifier(std::move(model).value());
    });
}

Result<std::vector<std::int32_t>> ExactKnnClassifier::predict(const ItemsOfDoubles& queries,
                                                              const Options& options) const {
    return guarded([&]() -> Result<std::vector<std::int32_t>> {
        if (auto error = invalid_queries(*present(model()), queries)) return *error;
        std::vector<std::int32_t> classes(static_cast<std::size_t>(queries.count));
        const auto done = ask(*model(), queries, {.classes = classes.data()}, options);
        if (!done) return done.error();
        return classes;
    });
}

Result<void> ExactKnnClassifier::predict(const ItemsOfDoubles& queries, std::int32_t* classes,
                                         const ExactNeighbourLists& neighbours, const Options& options) const {
    return guarded([&]() -> Result<void> {
        if (auto error = null_array(classes, "classes", queries.count)) return *error;
        Results results = lists(neighbours);
        results.classes = classes;
        return ask(*present(model()), queries, results, options);
    });
}

std::int64_t ExactKnnClassifier::class_count() const {
    const auto& classes = model()->classes;
    return classes.empty() ? 0 : std::int64_t{*std::max_element(classes.begin(), classes.end())} + 1;
}

Result<std::vector<double>> ExactKnnClassifier::predict_proba(const ItemsOfDoubles& queries,
                                                              const Options& options) const {
    return guarded([&]() -> Result<std::vector<double>> {
        const auto lists = kneighbors(queries, options);
        if (!lists) return lists.error();
        const auto classes = static_cast<std::size_t>(class_count()), k = static_cast<std::size_t>(model()->k);
        std::vector<double> shares(static_cast<std::size_t>(queries.count) * classes);
        std::vector<exact::Neighbour> found;
        for (std::size_t q = 0; q < static_cast<std::size_t>(queries.count); ++q) {
            found.clear();
            for (std::size_t at = q * k; at < (q + 1) * k && lists.value().indices[at] != kNoIndex; ++at)
                found.push_back({lists.value().distances[at], lists.value().indices[at]});
            exact::share_votes(found, model()->vote, model()->classes, {shares.data() + q * classes, classes});
        }
        return shares;
    });
}

Result<ExactKnnRegressor> ExactKnnRegressor::fit(const Device& device, const ItemsOfDoubles& points,
                                                 std::span<const double> targets, const NeighbourRule& rule,
                                                 const Options& options) {
    return guarded([&]() -> Result<ExactKnnRegressor> {
        if (auto error =
                invalid_fit(device, points, std::as_bytes(targets), sizeof(targets[0]), "targets", rule, options))
            return *error;
        const std::vector<float> unread(targets.size());  // the device only lists neighbours
        auto model = fitted<KnnRegressor>(device, points, std::span<const float>(unread), rule, options);
        if (!model) return model.error();
        model.value()->targets.assign(targets.begin(), targets.end());
        return ExactKnnRegressor(std::move(model).value());
    });
}

Result<std::vector<double>> ExactKnnRegressor::predict(const ItemsOfDoubles& queries, const Options& options) const {
    return guarded([&]() -> Result<std::vector<double>> {
        if (auto error = invalid_queries(*present(model()), queries)) return *error;
        std::vector<double> targets(static_cast<std::size_t>(queries.count));
        const auto done = ask(*model(), queries, {.targets = targets.data()}, options);
        if (!done) return done.error();
        return targets;
    });
}

Result<void> ExactKnnRegressor::predict(const ItemsOfDoubles& queries, double* targets,
                                        const ExactNeighbourLists& neighbours, const Options& options) const {
    return guarded([&]() -> Result<void> {
        if (auto error = null_array(targets, "targets", queries.count)) return *error;
        Results results = lists(neighbours);
        results.targets = targets;
        return ask(*present(model()), queries, results, options);
    });
}

Result<ExactNearestNeighbours> ExactNearestNeighbours::fit(const Device& device, const ItemsOfDoubles& points,
                                                           const NeighbourRule& rule, const Options& options) {
    return guarded([&]() -> Result<ExactNearestNeighbours> {
        const std::vector<float> unread(static_cast<std::size_t>(std::max<std::int64_t>(points.count, 0)));
        if (auto error = invalid_fit(device, points, std::as_bytes(std::span(unread)), sizeof(unread[0]), "points",
                                     rule, options))
            return *error;
        auto model = fitted<KnnRegressor>(device, points, std::span<const float>(unread), rule, options);
        if (!model) return model.error();
        return ExactNearestNeighbours(std::move(model).value());
    });
}

}  // namespace espalier::inline v1
