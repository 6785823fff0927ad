// A few long row-major rows: every row is cut into slices, one block each (block_rows.cuh), so that the whole device
// works on them, and the same kernel selects from the slices' lists. Lists follow each other as their slices do, and so
// ties stay in the order of their columns.

#include <algorithm>
#include <string>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/block_rows.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

/// At least four times what is taken of a slice, so that the lists are much shorter than the rows.
Slices slices_of(const Problem& problem, const Configuration& configuration) {
    const std::int64_t columns = std::max<std::int64_t>(configuration["columns"], 4 * problem.k);
    return {problem.columns, std::max<std::int64_t>(problem.columns / columns, 1)};
}

std::int64_t listed(const Problem& problem, const Slices& slices) { return slices.count * problem.k; }

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (!problem.has_rows()) return Support::no("reads rows: needs layout=row_major");
    if (problem.k > kMaxSmallestK) return Support::no("k above 1,024");
    const Slices slices = slices_of(problem, configuration);
    if (slices.count < 2)
        return Support::no("rows of fewer than two slices of " + std::to_string(configuration["columns"]) +
                           " columns or of 4 k");
    if (problem.rows > 2147483647 / slices.count) return Support::no("more than 2,147,483,647 slices exceed the grid");
    return Support::yes();
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    const auto entries = static_cast<std::size_t>(problem.rows * listed(problem, slices_of(problem, configuration)));
    return entries * (sizeof(float) + sizeof(std::int32_t));
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    const Slices slices = slices_of(problem, configuration);
    const std::int64_t per_row = listed(problem, slices);
    auto* const values = reinterpret_cast<float*>(context.workspace.data());
    auto* const columns = reinterpret_cast<std::int32_t*>(values + problem.rows * per_row);
    if (configuration["columns"] <= 2048)
        launch_select<128, 16>(context.stream, problem.rows, slices, problem.k, buffers.distances, OwnColumn(), values,
                               columns);
    else
        launch_select<256, 32>(context.stream, problem.rows, slices, problem.k, buffers.distances, OwnColumn(), values,
                               columns);
    launch_select<256, 32>(context.stream, problem.rows, WholeRows{per_row}, problem.k, values,
                           ListedColumn{columns, per_row}, buffers.values, buffers.indices);
}

}  // namespace

Variant<Problem> split_rows() {
    return {.role = Role::modern,
            .summary = "block_rows with several blocks per row, then once more on their lists",
            .limits = "row-major or a single row; two slices or more; k <= 1,024",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"columns", {2048, 8192}}},
            .optional_features = {"layout"},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::smallest_k
