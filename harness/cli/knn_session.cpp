#include "harness/cli/knn_session.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "harness/cli/command.hpp"
#include "harness/cli/device_option.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/dispatch/choose.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/explain.hpp"
#include "registries/knn/registry.hpp"

namespace espalier::bench::cli {
namespace {

/// The stages that a pipeline asked for last, noted on the way.
struct Noted {
    std::string_view distance, smallest_k;
} noted;

Chosen<distance::Problem> note_distance(const distance::Problem& problem, const DeviceInfo& device) {
    const auto chosen = choose(problem, device);
    noted.distance = chosen.variant->name;
    return chosen;
}

Chosen<smallest_k::Problem> note_smallest_k(const smallest_k::Problem& problem, const DeviceInfo& device) {
    const auto chosen = choose(problem, device);
    noted.smallest_k = chosen.variant->name;
    return chosen;
}

void check_types(const io::Schema& schema, Metric metric) {
    if (metric == Metric::mixed_euclidean) return;
    for (const io::Column& column : schema.attributes)
        if (column.kind == io::ColumnKind::nominal)
            throw Failure(ExitCode::usage, "column '" + column.name +
                                               "' is nominal, which only --metric mixed_euclidean " +
                                               "can compare; use that, or leave the column out with --ignore " +
                                               std::to_string(column.position + 1));
}

bool any_missing(const io::Rows& rows) {
    return std::any_of(rows.attributes.begin(), rows.attributes.end(), [](const auto& values) {
        return std::any_of(values.begin(), values.end(), [](float value) { return std::isnan(value); });
    });
}

template <class T>
std::vector<T> downloaded(const BenchMemory& memory, std::size_t count) {
    std::vector<T> values(count);
    memory.load(0, std::as_writable_bytes(std::span(values)));
    return values;
}

BenchMemory none(const Device& device) { return {state_of(device).info.kind, 0}; }

}  // namespace

KnnSession::KnnSession(const Device& device, const io::Schema& schema, const io::Rows& train,
                       const KnnSettings& settings)
    : device_(device),
      settings_(settings),
      points_(static_cast<std::int64_t>(train.size())),
      dims_(static_cast<std::int64_t>(schema.attributes.size())),
      classes_(static_cast<std::int64_t>(schema.label.values.size())),
      missing_(any_missing(train)),
      point_values_(none(device)),
      point_labels_(none(device)),
      device_types_(none(device)),
      query_values_(none(device)),
      results_(none(device)),
      distances_(none(device)),
      indices_(none(device)),
      workspace_(none(device)) {
    if (settings.k > points_)
        throw Failure(ExitCode::usage, "--k is " + std::to_string(settings.k) + ", but the training table has " +
                                           std::to_string(points_) + " rows; use a smaller k");
    check_types(schema, settings.metric);
    for (const io::Column& column : schema.attributes)
        types_.push_back(column.kind == io::ColumnKind::nominal ? AttributeType::nominal : AttributeType::numeric);

    const CurrentDevice current(state_of(device_));
    grow(point_values_, static_cast<std::size_t>(points_ * dims_) * sizeof(float));
    upload(train, point_values_);
    const auto labels = settings.task == Task::classification ? std::as_bytes(std::span(train.classes))
                                                              : std::as_bytes(std::span(train.targets));
    grow(point_labels_, labels.size());
    point_labels_.store(0, labels);
    grow(device_types_, types_.size());
    device_types_.store(0, std::as_bytes(std::span(types_)));
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
    const DeviceState& state = state_of(device_);
    const CurrentDevice current(state);
    const knn::Problem problem = problem_for(rows.size(), missing_ || any_missing(rows));
    const auto decision = value_or_fail(decide(problem, state.info, {.variant = settings_.variant}));
    const Variant<knn::Problem>& variant = decision.entry->variant;

    const std::size_t count = rows.size(), lists = count * static_cast<std::size_t>(settings_.k);
    grow(query_values_, count * rows.attributes.size() * sizeof(float));
    upload(rows, query_values_);
    grow(results_, count * 4);
    grow(workspace_, variant.workspace ? variant.workspace(problem, decision.configuration, state.info) : 0);
    if (settings_.neighbours) {
        grow(distances_, lists * sizeof(float));
        grow(indices_, lists * sizeof(std::int32_t));
    }

    knn::Buffers buffers{.query_values = reinterpret_cast<const float*>(query_values_.data()),
                         .point_values = reinterpret_cast<const float*>(point_values_.data()),
                         .types = reinterpret_cast<const AttributeType*>(device_types_.data()),
                         .types_on_host = types_.data(),
                         .stages = {note_distance, note_smallest_k}};
    const bool classifies = settings_.task == Task::classification;
    if (classifies) {
        buffers.point_classes = reinterpret_cast<const std::int32_t*>(point_labels_.data());
        buffers.classes = reinterpret_cast<std::int32_t*>(results_.data());
    } else {
        buffers.point_targets = reinterpret_cast<const float*>(point_labels_.data());
        buffers.targets = reinterpret_cast<float*>(results_.data());
    }
    if (settings_.neighbours) {
        buffers.neighbour_distances = reinterpret_cast<float*>(distances_.data());
        buffers.neighbour_indices = reinterpret_cast<std::int32_t*>(indices_.data());
    }
    Context context{state.info, nullptr, {workspace_.data(), workspace_.size()}};
    variant.run(context, problem, buffers, decision.configuration);
    ran_ = "knn/" + std::string(variant.name) + " (" + decision.configuration.text() + ": distance/" +
           std::string(noted.distance) + ", smallest_k/" + std::string(noted.smallest_k) + ")";

    Predictions predictions;
    if (classifies) predictions.classes = downloaded<std::int32_t>(results_, count);
    if (!classifies) predictions.targets = downloaded<float>(results_, count);
    if (settings_.neighbours) {
        predictions.distances = downloaded<float>(distances_, lists);
        predictions.neighbours = downloaded<std::int32_t>(indices_, lists);
    }
    return predictions;
}

std::string KnnSession::explanation(std::size_t rows) const {
    return value_or_fail(explain(problem_for(rows, missing_), state_of(device_).info, {.variant = settings_.variant}))
        .text();
}

knn::Problem KnnSession::problem_for(std::size_t rows, bool missing) const {
    return {.queries = static_cast<std::int64_t>(rows),
            .points = points_,
            .dims = dims_,
            .k = settings_.k,
            .classes = classes_,
            .metric = settings_.metric,
            .missing = missing ? Missing::allowed : Missing::none,
            .vote = settings_.vote,
            .task = settings_.task};
}

/// Training table, two chunks of rows as they are read (the next one is read while this one is computed),
/// the chunk on the device with its results, and the pipeline's workspace.
std::size_t KnnSession::bytes_for(std::size_t rows) const {
    const DeviceState& state = state_of(device_);
    const knn::Problem problem = problem_for(rows, true);
    const auto decision = value_or_fail(decide(problem, state.info, {.variant = settings_.variant}));
    const auto& variant = decision.entry->variant;
    const auto values = static_cast<std::size_t>(dims_ + 1) * 4;
    const std::size_t lists = settings_.neighbours ? static_cast<std::size_t>(settings_.k) * 16 : 0;
    return values * static_cast<std::size_t>(points_) + rows * (3 * values + 8 + lists) +
           (variant.workspace ? variant.workspace(problem, decision.configuration, state.info) : 0);
}

/// Attribute by attribute, so that the host needs no second copy of the table.
void KnnSession::upload(const io::Rows& rows, BenchMemory& memory) const {
    const std::size_t bytes = rows.size() * sizeof(float);
    for (std::size_t a = 0; a < rows.attributes.size(); ++a)
        memory.store(a * bytes, std::as_bytes(std::span(rows.attributes[a])));
}

void KnnSession::grow(BenchMemory& memory, std::size_t bytes) const {
    if (bytes <= memory.size()) return;
    memory = none(device_);  // the old one first: both may not fit
    memory = BenchMemory(state_of(device_).info.kind, bytes);
}

}  // namespace espalier::bench::cli
