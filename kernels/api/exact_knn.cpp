#include "espalier/exact_knn.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/api/checks.hpp"
#include "kernels/api/exact_ask.hpp"
#include "kernels/api/exact_model.hpp"
#include "kernels/api/exact_vote.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/api/items.hpp"

namespace espalier::inline v1 {
namespace {

using RadiusLists = std::vector<std::vector<exact::Neighbour>>;

/// The neighbours of each query within a radius.
Result<RadiusLists> within(const std::shared_ptr<const ExactKnnModel>& model, const ItemsOfDoubles& queries,
                           double radius, const Options& options) {
    if (auto error = invalid_exact_queries(*present(model), queries)) return *error;
    if (!(radius >= 0))
        return invalid("radius is " + std::to_string(radius) + ": it is a distance, 0 or more, or infinite");
    RadiusLists lists(static_cast<std::size_t>(queries.count));
    const auto done = ask_exactly(*model, queries, {.radius = radius, .all = &lists}, options);
    if (!done) return done.error();
    return lists;
}

}  // namespace

Result<ExactNeighbours> ExactKnnBase::kneighbors(const ItemsOfDoubles& queries, const Options& options) const {
    return guarded([&]() -> Result<ExactNeighbours> {
        if (auto error = invalid_exact_queries(*present(model_), queries)) return *error;
        ExactNeighbours neighbours{queries.count, model_->k, {}, {}};
        neighbours.distances.resize(static_cast<std::size_t>(queries.count * model_->k));
        neighbours.indices.resize(neighbours.distances.size());
        const auto done =
            ask_exactly(*model_, queries,
                        {.distances = neighbours.distances.data(), .indices = neighbours.indices.data()}, options);
        if (!done) return done.error();
        return neighbours;
    });
}

Result<void> ExactKnnBase::kneighbors(const ItemsOfDoubles& queries, const ExactNeighbourLists& neighbours,
                                      const Options& options) const {
    return guarded([&]() -> Result<void> {
        const ExactKnnModel& model = *present(model_);
        if (!neighbours.distances && !neighbours.indices && queries.count > 0)
            return invalid("there is an array for neither distances nor indices: give one of them");
        return ask_exactly(model, queries, exact_lists(neighbours), options);
    });
}

Result<ExactRadiusNeighbours> ExactKnnBase::radius_neighbours(const ItemsOfDoubles& queries, double radius,
                                                              const Options& options) const {
    return guarded([&]() -> Result<ExactRadiusNeighbours> {
        const auto lists = within(model_, queries, radius, options);
        if (!lists) return lists.error();
        ExactRadiusNeighbours neighbours{{0}, {}, {}};
        for (const auto& list : lists.value()) {
            for (const exact::Neighbour& one : list) {
                neighbours.distances.push_back(one.distance);
                neighbours.indices.push_back(one.index);
            }
            neighbours.offsets.push_back(static_cast<std::int64_t>(neighbours.indices.size()));
        }
        return neighbours;
    });
}

Result<Explanation> ExactKnnBase::explain_predict(std::int64_t queries, const Options& options, Missing missing) const {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_missing(missing)) return *error;
        const ExactKnnModel& model = *present(model_);
        if (model.rounds.empty())
            return Error{ErrorCode::unsupported,
                         "no pipeline knows this metric, or so many neighbours: the host looks at all points"};
        if (missing == Missing::none && looks_at_bytes(model, options))
            return Error{ErrorCode::unsupported,
                         "no pipeline runs: all attributes are nominal, and the host compares them as bytes"};
        const bool allowed = missing == Missing::allowed && model.table.missing_rule() == Missing::allowed;
        return model.rounds.front().finder_for(allowed).explain_predict(queries_at_once(model, queries), options);
    });
}

std::size_t ExactKnnBase::predict_bytes(std::int64_t queries) const noexcept {
    if (!model_ || queries <= 0) return 0;
    const std::int64_t at_once = queries_at_once(*model_, queries);
    const std::int64_t dims = model_->table.float_dims();
    std::size_t lists = 0;
    for (const Round& round : model_->rounds) {
        constexpr std::int64_t kEntries = std::int64_t{1} << 20;  // of one round at a time
        lists = std::max(lists, static_cast<std::size_t>(
                                    std::min(at_once * round.candidates, std::max(kEntries, 256 * round.candidates))));
    }
    return static_cast<std::size_t>(at_once * dims) * (sizeof(double) + 2 * sizeof(float)) +
           lists * (sizeof(float) + sizeof(std::int32_t));
}

Result<std::vector<std::int32_t>> ExactKnnClassifier::predict(const ItemsOfDoubles& queries,
                                                              const Options& options) const {
    return guarded([&]() -> Result<std::vector<std::int32_t>> {
        if (auto error = invalid_exact_queries(*present(model()), queries)) return *error;
        std::vector<std::int32_t> classes(static_cast<std::size_t>(queries.count));
        const auto done = ask_exactly(*model(), queries, {.classes = classes.data()}, options);
        if (!done) return done.error();
        return classes;
    });
}

Result<void> ExactKnnClassifier::predict(const ItemsOfDoubles& queries, std::int32_t* classes,
                                         const ExactNeighbourLists& neighbours, const Options& options) const {
    return guarded([&]() -> Result<void> {
        if (auto error = null_array(classes, "classes", queries.count)) return *error;
        ExactResults results = exact_lists(neighbours);
        results.classes = classes;
        return ask_exactly(*present(model()), queries, results, options);
    });
}

Result<std::vector<std::int32_t>> ExactKnnClassifier::predict_within(const ItemsOfDoubles& queries, double radius,
                                                                     const Options& options) const {
    return guarded([&]() -> Result<std::vector<std::int32_t>> {
        const auto lists = within(model(), queries, radius, options);
        if (!lists) return lists.error();
        std::vector<std::int32_t> classes;
        for (const auto& list : lists.value()) classes.push_back(exact::predict(list, model()->vote, model()->classes));
        return classes;
    });
}

std::int64_t ExactKnnClassifier::class_count() const noexcept {
    if (!model()) return 0;
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

Result<std::vector<double>> ExactKnnRegressor::predict(const ItemsOfDoubles& queries, const Options& options) const {
    return guarded([&]() -> Result<std::vector<double>> {
        if (auto error = invalid_exact_queries(*present(model()), queries)) return *error;
        std::vector<double> targets(static_cast<std::size_t>(queries.count));
        const auto done = ask_exactly(*model(), queries, {.targets = targets.data()}, options);
        if (!done) return done.error();
        return targets;
    });
}

Result<std::vector<double>> ExactKnnRegressor::predict_within(const ItemsOfDoubles& queries, double radius,
                                                              const Options& options) const {
    return guarded([&]() -> Result<std::vector<double>> {
        const auto lists = within(model(), queries, radius, options);
        if (!lists) return lists.error();
        std::vector<double> targets;
        for (const auto& list : lists.value()) targets.push_back(exact::predict(list, model()->vote, model()->targets));
        return targets;
    });
}

Result<void> ExactKnnRegressor::predict(const ItemsOfDoubles& queries, double* targets,
                                        const ExactNeighbourLists& neighbours, const Options& options) const {
    return guarded([&]() -> Result<void> {
        if (auto error = null_array(targets, "targets", queries.count)) return *error;
        ExactResults results = exact_lists(neighbours);
        results.targets = targets;
        return ask_exactly(*present(model()), queries, results, options);
    });
}

}  // namespace espalier::inline v1
