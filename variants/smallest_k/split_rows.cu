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
Slices<> slices_of(const Problem& problem, const Configuration& configuration) {
    const std::int64_t columns = std::max<std::int64_t>(configuration["columns"], 4 * problem.k);
    return {problem.columns, std::max<std::int64_t>(problem.columns / columns, 1)};
}

std::int64_t listed(const Problem& problem, const Slices<>& slices) { return slices.count * problem.k; }

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (!problem.has_rows()) return Support::no("reads rows: needs layout=row_major");
    if (problem.k > kMaxSmallestK) return Support::no("k above 1,024");
    const Slices<> slices = slices_of(problem, configuration);
    if (slices.count < 2)
        return Support::no("rows of fewer than two slices of " + std::to_string(configuration["columns"]) +
                           " columns or of 4 k");
    if (problem.rows > 2147483647 / slices.count) return Support::no("more than 2,147,483,647 slices exceed the grid");
    return Support::yes();
}

/// Bytes of the lists' values, of which an odd number of 16-bit ones is followed by a gap.
std::size_t bytes_of_values(const Problem& problem, std::int64_t entries) {
    const std::size_t bytes = static_cast<std::size_t>(entries) * key_bytes(problem.keys);
    return (bytes + sizeof(std::int32_t) - 1) / sizeof(std::int32_t) * sizeof(std::int32_t);
}

std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    const std::int64_t entries = problem.rows * listed(problem, slices_of(problem, configuration));
    return bytes_of_values(problem, entries) + static_cast<std::size_t>(entries) * sizeof(std::int32_t);
}

template <class T>
void select(const Context& context, const Problem& problem, const Buffers& buffers,
            const Configuration& configuration) {
    const std::int64_t count = slices_of(problem, configuration).count, per_row = count * problem.k;
    const Slices<kVectorOf<T>> slices{problem.columns, count};
    const T* const keys = keys_of<T>(buffers);
    auto* const values = reinterpret_cast<T*>(context.workspace.data());
    auto* const columns =
        reinterpret_cast<std::int32_t*>(context.workspace.data() + bytes_of_values(problem, problem.rows * per_row));
    if (configuration["columns"] <= 2048)
        launch_select<128, 16>(context.stream, problem.rows, slices, problem.k, keys, OwnColumn(), values, columns);
    else
        launch_select<256, 32>(context.stream, problem.rows, slices, problem.k, keys, OwnColumn(), values, columns);
    launch_select<256, 32>(context.stream, problem.rows, WholeRows{per_row}, problem.k, static_cast<const T*>(values),
                           ListedColumn{columns, per_row}, values_of<T>(buffers), buffers.indices);
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    with_key_type(problem.keys,
                  [&]<class T>(std::type_identity<T>) { select<T>(context, problem, buffers, configuration); });
}

}  // namespace

Variant<Problem> split_rows() {
    return {.role = Role::modern,
            .summary = "block_rows with several blocks per row, then once more on their lists",
            .limits = "row-major or a single row; two slices or more; k <= 1,024",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"columns", {2048, 8192}}},
            .optional_features = {"layout", "keys"},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::smallest_k
