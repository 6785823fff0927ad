#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "kernels/api/knn_model.hpp"
#include "kernels/api/planned.hpp"
#include "kernels/api/trial_arrays.hpp"
#include "kernels/dispatch/choose.hpp"

namespace espalier {

/// Where results go. Null for what nobody wants to know.
struct Wanted {
    void* predictions = nullptr;  ///< classes or targets, of 4 bytes each
    NeighbourLists lists{};
};

/// Those of the queries [first, first + count) of `all`.
inline Wanted part_of(Wanted wanted, std::int64_t first, std::int64_t k, std::int64_t all) {
    NeighbourLists& lists = wanted.lists;
    const bool by_query = lists.layout == MatrixLayout::row_major;
    if (lists.stride == 0) lists.stride = by_query ? k : all;
    const std::int64_t offset = by_query ? first * lists.stride : first;
    if (lists.distances) lists.distances += offset;
    if (lists.indices) lists.indices += offset;
    if (wanted.predictions) wanted.predictions = static_cast<std::byte*>(wanted.predictions) + first * 4;
    return wanted;
}

template <class T>
const T* data_or_null(const std::vector<T>& values) {
    return values.empty() ? nullptr : values.data();
}

/// Queries either are brought to the device like any other array, or are left on the host for a pipeline that copies
/// them itself (`problem.queries_in`), with the predictions.
struct KnnCall {
    knn::Problem problem;
    std::shared_ptr<const KnnModel> model;
    Items given{};  ///< the queries as the caller has them, but for their values
    bool predicts = true, lists_distances = false, lists_indices = false;
    MatrixLayout list_layout = MatrixLayout::transposed;
    std::int64_t list_stride = 0;
    knn::OnHost on_host{};

    [[nodiscard]] std::array<ArraySpec, 4> arrays() const {
        const bool streamed = problem.queries_in == QueriesIn::host;
        Items queries = given;
        queries.values = nullptr;
        if (streamed) queries.count = 0;
        const bool classifies = problem.task == Task::classification;
        // A prediction is made whether it is wanted or not.
        return {items_of("queries.values", queries),
                predicts && !streamed ? output_of<std::int32_t>(classifies ? "classes" : "targets", problem.queries)
                                      : scratch_of<std::int32_t>(problem.queries),
                lists(output_of<float>("distances", lists_distances ? entries() : 0)),
                lists(output_of<std::int32_t>("indices", lists_indices ? entries() : 0))};
    }

    [[nodiscard]] std::int64_t entries() const { return problem.queries * problem.k; }

    /// The variants write the j-th nearest of query q at [j * queries + q].
    [[nodiscard]] ArraySpec lists(const ArraySpec& spec) const {
        if (list_layout == MatrixLayout::transposed) return in_rows(spec, problem.k, list_stride);
        return turned(spec, problem.queries, list_stride);
    }

    [[nodiscard]] knn::Buffers bind(const Pointers<4>& at) const {
        const TrainingSet& training = *model->training;
        knn::Buffers buffers;
        buffers.query_values = static_cast<const float*>(at[0]);
        buffers.point_values = training.points.data();
        buffers.point_classes = training.classes.data();
        buffers.point_targets = training.targets.data();
        buffers.types = training.device_types.data();
        buffers.types_on_host = data_or_null(training.types);
        if (problem.task == Task::classification)
            buffers.classes = static_cast<std::int32_t*>(at[1]);
        else
            buffers.targets = static_cast<float*>(at[1]);
        buffers.neighbour_distances = static_cast<float*>(at[2]);
        buffers.neighbour_indices = static_cast<std::int32_t*>(at[3]);
        buffers.on_host = on_host;
        buffers.stages = {choose<distance::Problem>, choose<smallest_k::Problem>};
        return buffers;
    }

    /// The same with all results, by which those of a plan that measures are compared.
    [[nodiscard]] KnnCall with_all_results() const {
        KnnCall all = *this;
        all.predicts = all.lists_distances = all.lists_indices = true;
        return all;
    }

    /// Points of the training set as queries: what the model's data are like decides how much of a search is ruled out.
    [[nodiscard]] bool fill(std::size_t array, std::span<std::byte> values) const;

    /// Neighbours in nearly equal distances may change places, and then the vote may be another.
    [[nodiscard]] bool agree(const TrialArrays& given, const Outputs& expected, const Outputs& actual,
                             const Slack& slack) const;
};

inline Pointers<4> pointers(const Items& queries, const Wanted& wanted) {
    return {const_cast<float*>(queries.values), wanted.predictions, wanted.lists.distances, wanted.lists.indices};
}

}  // namespace espalier
