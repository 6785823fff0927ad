#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/core/thread_errors.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/knn.hpp"
#include "variants/knn/fused/cell_distances.hpp"
#include "variants/knn/fused/panels.hpp"
#include "variants/knn/fused/plan.hpp"

/// Parts of a problem as problems of their own, for cells.hpp.
namespace espalier::knn::fused {

/// A centre, the queries of its cell, and the points that may be among their nearest, ascending.
struct Cell {
    std::int32_t centre;   ///< a query
    float radius = 0;      ///< no query of the cell is farther from it
    float kth = 0;         ///< k points are this near to it
    float likely_kth = 0;  ///< and probably this near
    float farthest = 0;    ///< a quarter of the points is this near
    std::vector<std::int32_t> queries, points;
};

/// Some of the items that lie side by side.
inline Table gathered_rows(const float* rows, std::int64_t dims, std::span<const std::int32_t> items) {
    const auto count = static_cast<std::int64_t>(items.size());
    Table table{std::vector<float>(static_cast<std::size_t>(count * dims)), count, dims};
    for (std::int64_t begin = 0; begin < count; begin += kLine) {
        const std::int64_t some = std::min(kLine, count - begin);
        for (std::int64_t a = 0; a < dims; ++a)
            for (std::int64_t j = 0; j < some; ++j)
                table.values[static_cast<std::size_t>(a * count + begin + j)] =
                    rows[items[static_cast<std::size_t>(begin + j)] * dims + a];
    }
    return table;
}

template <class T>
std::vector<T> gathered_numbers(const T* from, std::span<const std::int32_t> items) {
    std::vector<T> numbers;
    if (from)
        for (const std::int32_t item : items) numbers.push_back(from[item]);
    return numbers;
}

/// How a variant runs a problem, and the workspace that takes.
struct Whole {
    void (*run)(Context&, const Problem&, const Buffers&, const Configuration&);
    std::size_t (*workspace)(const Problem&, const Configuration&, const DeviceInfo&);
};

/// Runs parts of a problem, several at once where there are many, and puts their results where they belong.
class CellRuns {
public:
    CellRuns(const Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration,
             const Whole& whole, int threads)
        : context_(context),
          problem_(problem),
          buffers_(buffers),
          configuration_(configuration),
          whole_(whole),
          threads_(threads),
          queries_{query_values(problem, buffers), problem.queries, problem.dims, 0, problem.queries} {}

    void run(std::span<const Cell> cells, std::span<const std::int32_t> rest) const {
        const Lines<float> rows = point_rows();
        const auto count = static_cast<std::int64_t>(cells.size());
        const int at_once = count >= 2 * threads_ ? threads_ : 1;
        DeviceInfo device = context_.device;
        device.threads = threads_ / at_once;
        ThreadErrors errors;
#pragma omp parallel for schedule(dynamic) num_threads(at_once)
        for (std::int64_t c = 0; c < count; ++c)
            errors.guard([&] { run_cell(cells[static_cast<std::size_t>(c)], rows.data(), device); });
        errors.rethrow();
        if (!rest.empty()) run_part(rest, {}, buffers_, problem_.points, context_.device);
    }

private:
    [[nodiscard]] Lines<float> point_rows() const {
        constexpr std::int64_t kSome = 64;
        Lines<float> rows(problem_.points * problem_.dims);
#pragma omp parallel for schedule(static) num_threads(threads_)
        for (std::int64_t first = 0; first < problem_.points; first += kSome)
            pack_rows({buffers_.point_values, problem_.points, problem_.dims, first,
                       std::min(kSome, problem_.points - first)},
                      rows.data() + first * problem_.dims);
        return rows;
    }

    void run_cell(const Cell& cell, const float* rows, const DeviceInfo& device) const {
        const Table points = gathered_rows(rows, problem_.dims, cell.points);
        const auto classes = gathered_numbers(buffers_.point_classes, cell.points);
        const auto targets = gathered_numbers(buffers_.point_targets, cell.points);
        Buffers buffers = buffers_;
        buffers.point_values = points.values.data();
        buffers.point_classes = classes.data(), buffers.point_targets = targets.data();
        run_part(cell.queries, cell.points, buffers, points.items, device);
    }

    /// Some queries against `points` points, which `numbers` are the numbers of, if they are not all.
    void run_part(std::span<const std::int32_t> queries, std::span<const std::int32_t> numbers, Buffers buffers,
                  std::int64_t points, const DeviceInfo& device) const {
        Problem problem = problem_;
        problem.queries = static_cast<std::int64_t>(queries.size()), problem.points = points;
        problem.queries_in = QueriesIn::device;
        const Table values = gathered(queries_, queries);
        const auto wanted = [&](bool is, std::int64_t each) {
            return is ? queries.size() * static_cast<std::size_t>(each) : 0;
        };
        std::vector<std::int32_t> classes(wanted(buffers.classes, 1)),
            indices(wanted(buffers.neighbour_indices, problem.k));
        std::vector<float> targets(wanted(buffers.targets, 1)),
            distances(wanted(buffers.neighbour_distances, problem.k));
        buffers.query_values = values.values.data(), buffers.on_host = {};
        if (buffers.classes) buffers.classes = classes.data();
        if (buffers.targets) buffers.targets = targets.data();
        if (buffers.neighbour_indices) buffers.neighbour_indices = indices.data();
        if (buffers.neighbour_distances) buffers.neighbour_distances = distances.data();
        const auto bytes = static_cast<std::int64_t>(whole_.workspace(problem, configuration_, device));
        const Lines<std::byte> workspace(bytes);
        Context context{device, context_.stream, {workspace.data(), static_cast<std::size_t>(bytes)}};
        whole_.run(context, problem, buffers, configuration_);
        if (!numbers.empty())
            for (std::int32_t& index : indices)
                if (index != kNoIndex) index = numbers[static_cast<std::size_t>(index)];
        scatter(classes, buffers_.classes, queries, 1);
        scatter(targets, buffers_.targets, queries, 1);
        scatter(indices, buffers_.neighbour_indices, queries, problem.k);
        scatter(distances, buffers_.neighbour_distances, queries, problem.k);
    }

    /// `each` rows of results of some queries among those of all.
    template <class T>
    void scatter(const std::vector<T>& results, T* to, std::span<const std::int32_t> queries, std::int64_t each) const {
        if (results.empty()) return;
        auto from = results.begin();
        for (std::int64_t j = 0; j < each; ++j)
            for (const std::int32_t query : queries) to[j * problem_.queries + query] = *from++;
    }

    const Context& context_;
    const Problem& problem_;
    const Buffers& buffers_;
    const Configuration& configuration_;
    Whole whole_;
    int threads_;
    Slice queries_;
};

}  // namespace espalier::knn::fused
