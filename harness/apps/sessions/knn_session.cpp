#include "harness/apps/sessions/knn_session.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "harness/apps/sessions/what_runs.hpp"
#include "harness/base/failure.hpp"
#include "harness/base/text/counted.hpp"

namespace espalier::bench::apps {
namespace {

/// Neighbours to find: the query itself, which is left out, is its nearest or next to it.
std::int64_t listed(const KnnSettings& settings) { return settings.k + (settings.leave_one_out ? 1 : 0); }

bool needs_lists(const KnnSettings& settings) {
    return settings.neighbours || settings.probabilities || settings.leave_one_out;
}

void check_rows(const KnnSettings& settings, std::size_t rows) {
    if (settings.radius) return;
    if (listed(settings) > static_cast<std::int64_t>(rows))
        throw Failure(ExitCode::usage, (settings.leave_one_out ? "k is " : "--k is ") + std::to_string(settings.k) +
                                           ", but the training table has " + counted(rows, "row") +
                                           (settings.leave_one_out ? ", one of which is left out" : "") +
                                           "; use a smaller k");
}

KnnVotes votes_of(const KnnSettings& settings, const io::Schema& schema, const io::Rows& train) {
    if (!settings.probabilities && !settings.leave_one_out && !settings.radius) return {};
    return {settings.vote, train.classes, train.targets, schema.label.values.size()};
}

void check_types(const io::Schema& schema, const KnnSettings& settings) {
    const bool of_rule = settings.exact_metric == ExactMetric::of_rule;
    if (of_rule ? settings.metric == Metric::mixed_euclidean : settings.exact_metric == ExactMetric::hamming) return;
    for (const io::Column& column : schema.attributes)
        if (column.kind == io::ColumnKind::nominal)
            throw Failure(ExitCode::usage,
                          "column '" + column.name + "' is nominal, which only --metric mixed_euclidean " +
                              "and hamming can compare; use one of them, or leave the column out with --ignore " +
                              std::to_string(column.position + 1));
}

bool any_missing(const io::Rows& rows) {
    return std::ranges::any_of(rows.attributes.all(), [](double value) { return std::isnan(value); });
}

/// Rows as the library takes them.
ItemsOfDoubles items_of(const io::Cells& cells) {
    return {cells.all().data(), static_cast<std::int64_t>(cells.rows()), static_cast<std::int64_t>(cells.columns())};
}

}  // namespace

KnnSession::KnnSession(const Device& device, const io::Schema& schema, io::Rows train, const KnnSettings& settings)
    : settings_(settings),
      points_(static_cast<std::int64_t>(train.size())),
      dims_(static_cast<std::int64_t>(schema.attributes.size())),
      votes_(votes_of(settings, schema, train)),
      missing_(any_missing(train)),
      model_(fitted(device, schema, std::move(train), settings)) {
    const auto explained = explain(1, missing_);
    scans_ = !explained && explained.error().code == ErrorCode::unsupported && settings_.variant.empty();
}

KnnSession::Model KnnSession::fitted(const Device& device, const io::Schema& schema, io::Rows train,
                                     const KnnSettings& settings) {
    check_rows(settings, train.size());
    check_types(schema, settings);
    std::vector<AttributeType> types;
    for (const io::Column& column : schema.attributes)
        types.push_back(column.kind == io::ColumnKind::nominal ? AttributeType::nominal : AttributeType::numeric);
    NeighbourRule rule{.k = listed(settings), .distance = {.metric = settings.metric}, .vote = settings.vote};
    rule.distance.missing = Missing::allowed;  // costs nothing where there is none
    if (settings.metric == Metric::mixed_euclidean) rule.distance.types = types;
    const ExactDistance distance{.metric = settings.exact_metric,
                                 .p = settings.p,
                                 .degrees = settings.degrees,
                                 .weights = settings.attribute_weights};
    const auto count = static_cast<std::int64_t>(train.attributes.rows());
    OwnedItemsOfDoubles points{{}, count, static_cast<std::int64_t>(train.attributes.columns())};
    points.values = train.attributes.release();
    if (settings.task == Task::classification)
        return value_or_fail(ExactKnnClassifier::fit(device, std::move(points), train.classes, rule, distance));
    return value_or_fail(ExactKnnRegressor::fit(device, std::move(points), train.targets, rule, distance));
}

std::size_t KnnSession::chunk_rows(std::size_t wanted) const {
    for (std::size_t rows = std::max<std::size_t>(wanted, 1);; rows = (rows + 1) / 2) {
        const std::size_t bytes = bytes_for(rows);
        if (bytes <= settings_.memory) return rows;
        if (rows == 1)
            throw Failure(ExitCode::usage, "--memory of " + std::to_string(settings_.memory) +
                                               " bytes does not hold the training table and one query, which need " +
                                               std::to_string(bytes) + " bytes; raise it");
    }
}

Predictions KnnSession::predict(const io::Rows& rows) {
    const ItemsOfDoubles queries = items_of(rows.attributes);
    const std::size_t count = rows.size();
    const bool missing = missing_ || any_missing(rows);
    Predictions predictions;
    (settings_.task == Task::classification ? predictions.classes.resize(count) : predictions.targets.resize(count));
    if (settings_.radius)
        find_within_radius(queries, predictions);
    else
        find_nearest(queries, predictions);
    if (settings_.leave_one_out) leave_themselves_out(predictions, count);
    if (settings_.radius) votes_.predict(predictions, settings_.k);
    if (settings_.probabilities) votes_.share(predictions, count);
    ran_ = how(count, missing);
    return predictions;
}

void KnnSession::find_within_radius(const ItemsOfDoubles& queries, Predictions& predictions) const {
    ExactRadiusNeighbours found = value_or_fail(std::visit(
        [&](const ExactKnnBase& base) {
            return base.radius_neighbours(queries, *settings_.radius, {.variant = settings_.variant});
        },
        model_));
    predictions.offsets = std::move(found.offsets);
    predictions.distances = std::move(found.distances);
    predictions.neighbours = std::move(found.indices);
}

void KnnSession::find_nearest(const ItemsOfDoubles& queries, Predictions& predictions) const {
    ExactNeighbourLists neighbours;
    if (needs_lists(settings_)) {
        const auto lists = static_cast<std::size_t>(queries.count * listed(settings_));
        predictions.distances.resize(lists);
        predictions.neighbours.resize(lists);
        neighbours = {predictions.distances.data(), predictions.neighbours.data(), MatrixLayout::transposed};
    }
    const Options options{.variant = settings_.variant};
    if (const auto* classifier = std::get_if<ExactKnnClassifier>(&model_))
        succeed_or_fail(classifier->predict(queries, predictions.classes.data(), neighbours, options));
    else
        succeed_or_fail(
            std::get<ExactKnnRegressor>(model_).predict(queries, predictions.targets.data(), neighbours, options));
}

std::string KnnSession::how(std::size_t rows, bool missing) const {
    return scans_ ? "a comparison with every row" : what_runs(value_or_fail(explain(rows, missing)));
}

void KnnSession::leave_themselves_out(Predictions& predictions, std::size_t count) {
    KnnVotes::leave_out(predictions, next_row_, count);
    next_row_ += static_cast<std::int64_t>(count);
    votes_.predict(predictions, settings_.k);
}

std::string KnnSession::explanation(std::size_t rows) const {
    const auto explained = explain(rows, missing_);
    return scans_ ? explained.error().message : value_or_fail(explained).text();
}

Result<Explanation> KnnSession::explain(std::size_t rows, bool missing) const {
    return std::visit(
        [&](const ExactKnnBase& base) {
            return base.explain_predict(static_cast<std::int64_t>(rows), {.variant = settings_.variant},
                                        missing ? Missing::allowed : Missing::none);
        },
        model_);
}

/// Queries may have missing cells although the training table has none. Where a forced pipeline knows none, it is
/// refused when such a query comes.
std::size_t KnnSession::workspace_bytes(std::size_t rows) const {
    if (scans_) return 0;
    const std::size_t bytes = value_or_fail(explain(rows, missing_)).workspace_bytes;
    const auto with = explain(rows, true);
    return with ? std::max(bytes, with.value().workspace_bytes) : bytes;
}

/// Training table in double and in single precision, two chunks of rows as they are read (the next one is read while
/// this one is computed), their results, what the library makes of them, and the pipeline's workspace.
std::size_t KnnSession::bytes_for(std::size_t rows) const {
    const auto values = static_cast<std::size_t>(dims_ + 1);
    const std::int64_t most = settings_.radius ? points_ : needs_lists(settings_) ? listed(settings_) : 0;
    const std::size_t lists = static_cast<std::size_t>(most) * 12;
    const std::size_t shares = settings_.probabilities ? votes_.class_count() * sizeof(double) : 0;
    const std::size_t library = std::visit(
        [rows](const ExactKnnBase& base) { return base.predict_bytes(static_cast<std::int64_t>(rows)); }, model_);
    return values * (sizeof(double) + sizeof(float)) * static_cast<std::size_t>(points_) +
           rows * (2 * values * sizeof(double) + sizeof(double) + lists + shares) + library + workspace_bytes(rows);
}

}  // namespace espalier::bench::apps
