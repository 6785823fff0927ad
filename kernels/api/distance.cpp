#include "espalier/distance.hpp"

#include <algorithm>
#include <utility>

#include "kernels/api/distance_call.hpp"
#include "kernels/api/planning.hpp"

namespace espalier::inline v1 {
namespace {

using distance::call_of;
using distance::DistanceCall;

std::optional<Error> invalid_call(const Items& queries, const Items& points, const DistanceRule& rule,
                                  const DistanceMatrix& result) {
    if (auto error = invalid_comparison(queries, points, rule)) return error;
    if (!is_enumerator(result.layout, MatrixLayout::row_major))
        return invalid("layout is none of the enumerators of espalier::MatrixLayout");
    const bool by_query = result.layout == MatrixLayout::row_major;
    return invalid_stride({.name = "result.stride",
                           .of = by_query ? "a row" : "a column",
                           .given = result.stride,
                           .rows = by_query ? queries.count : points.count,
                           .row = by_query ? points.count : queries.count});
}

Result<void> compute(const Device& device, const Items& queries, const Items& points, const DistanceRule& rule,
                     const DistanceMatrix& result, const Options& options) {
    DistanceCall call = call_of(queries, points, rule, result);
    const Pointers<4> pointers = call.pointers(queries, points, result.values);
    return call_once(device, std::move(call), pointers, options);
}

/// Says what is wrong with the arrays of a call: all of it before a part of it is computed.
std::optional<Error> wrong_arrays_of(const DeviceState& device, const DistanceCall& call, const Pointers<4>& pointers,
                                     const Options& options) {
    if (auto error = invalid_options(device, options)) return error;
    const CurrentDevice current(device);
    return wrong_arrays({&device, options.memory}, call.arrays(), pointers, {});
}

/// Computes some rows of the result after others, or some columns of a transposed one.
Result<void> compute_in_parts(const Device& device, const Items& queries, const Items& points, const DistanceRule& rule,
                              DistanceMatrix result, const Options& options) {
    const DistanceCall whole = call_of(queries, points, rule, result);
    if (auto error = wrong_arrays_of(state_of(device), whole, whole.pointers(queries, points, result.values), options))
        return *error;
    const Progress progress(options);
    const bool by_query = result.layout == MatrixLayout::row_major;
    const Items &cut = by_query ? queries : points, &other = by_query ? points : queries;
    if (result.stride == 0) result.stride = other.count;
    const std::int64_t at_once = items_in_part(other.count * other.dims, device.is_cuda());
    progress.at_start();
    for (std::int64_t first = 0; first == 0 || first < cut.count; first += at_once) {
        const Items part = part_of(cut, first, std::min(at_once, cut.count - first));
        const DistanceMatrix to{result.values ? result.values + first * result.stride : nullptr, result.layout,
                                result.stride};
        const auto done =
            compute(device, by_query ? part : queries, by_query ? points : part, rule, to, of_part(options));
        if (!done) return done;
        progress.after(first + part.count, cut.count);
    }
    progress.at_end();
    return {};
}

/// Says what is wrong with the matrix of a run of a plan.
std::optional<Error> other_matrix(const DistanceMatrix& result, const DistanceCall& call) {
    if (call.exchanged != (result.layout == MatrixLayout::row_major))
        return invalid("result.layout is not the one that the plan is for: make another plan for other layouts");
    const std::int64_t row = call.problem.queries;
    return other_sizes(
        {{"result.stride", result.stride == 0 ? row : result.stride, call.stride == 0 ? row : call.stride}});
}

}  // namespace

Result<void> pairwise_distances(const Device& device, const Items& queries, const Items& points,
                                const DistanceRule& rule, const DistanceMatrix& result, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_call(queries, points, rule, result)) return *error;
        if (options.progress) return compute_in_parts(device, queries, points, rule, result, options);
        return compute(device, queries, points, rule, result, options);
    });
}

Result<DistancesPlan> plan_pairwise_distances(const Device& device, const Items& queries, const Items& points,
                                              const DistanceRule& rule, const DistanceMatrix& result,
                                              const Options& options, const PlanOptions& planning) {
    return guarded([&]() -> Result<DistancesPlan> {
        if (auto error = invalid_call(queries, points, rule, result)) return *error;
        return plan_call<DistancesPlan>(device, call_of(queries, points, rule, result), options, planning);
    });
}

Result<void> DistancesPlan::run(const Items& queries, const Items& points, const DistanceMatrix& result, Stream stream,
                                std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<DistanceCall>(state());
        const DistanceCall& call = planned.call;
        if (auto error = other_items(queries, "queries", call.exchanged ? call.second : call.first)) return *error;
        if (auto error = other_items(points, "points", call.exchanged ? call.first : call.second)) return *error;
        if (auto error = other_matrix(result, call)) return *error;
        return run_planned(planned, call.pointers(queries, points, result.values), stream, workspace);
    });
}

Result<Explanation> explain_pairwise_distances(const Device& device, const Items& queries, const Items& points,
                                               const DistanceRule& rule, const DistanceMatrix& result,
                                               const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_call(queries, points, rule, result)) return *error;
        return explain(call_of(queries, points, rule, result).problem, state_of(device), options);
    });
}

}  // namespace espalier::inline v1
