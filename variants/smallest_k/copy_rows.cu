// All of a row in any order: nothing to select. A copy of the matrix, and the columns' numbers beside it; for lists
// longer than the row, what fills them. Bound by memory: 4 bytes read and 8 written per
// entry, of 16-bit numbers 2 and 6.

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/typed_keys.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

constexpr int kThreads = 256, kPerThread = 4;

/// The entries as they lie in memory, in runs: a list each if they are row-major, else a column each.
struct Entries {
    std::int64_t count, length;  ///< all; of a run

    [[nodiscard]] std::int64_t blocks() const { return (count + kThreads * kPerThread - 1) / (kThreads * kPerThread); }
};

/// Divides once; short runs are counted on.
template <bool row_major, class T>
__global__ void __launch_bounds__(kThreads)
    copy_rows(Entries entries, std::int64_t columns, const T* distances, T* values, std::int32_t* indices) {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kThreads * kPerThread + threadIdx.x;
    std::int64_t run = first / entries.length, at = first % entries.length;
#pragma unroll
    for (int i = 0; i < kPerThread; ++i) {
        const std::int64_t place = first + i * kThreads;
        if (place >= entries.count) return;
        const std::int64_t column = row_major ? at : run;
        const bool filled = column < columns;
        const std::int64_t from = row_major ? run * columns + at : place;
        values[place] = filled ? distances[from] : to_store<T>(value_as<Compared<T>>(kEmptyKey));
        indices[place] = filled ? static_cast<std::int32_t>(column) : kNoIndex;
        for (at += kThreads; at >= entries.length; ++run) at -= entries.length;
    }
}

/// Four numbers, which are read and written at once.
template <class T>
struct alignas(4 * sizeof(T)) Four {
    T of[4];
};

/// Rows of whole fours, all of them wanted: a four for each thread. Several, or stores past the caches, take 3 to 6%
/// longer.
template <class T>
__global__ void __launch_bounds__(kThreads)
    copy_fours(std::int64_t fours, std::int64_t of_row, const Four<T>* distances, Four<T>* values, int4* indices) {
    static_assert(kPerThread == 4, "as many blocks as of single numbers");
    const std::int64_t place = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
    if (place >= fours) return;
    const auto column = static_cast<std::int32_t>(place % of_row) * 4;
    values[place] = distances[place];
    indices[place] = {column, column + 1, column + 2, column + 3};
}

Entries entries_of(const Problem& problem) {
    return {problem.results(), problem.has_rows() ? problem.k : problem.rows};
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (problem.order != ListOrder::any) return Support::no("sorts nothing: needs order=any");
    if (problem.k < problem.columns) return Support::no("selects nothing: needs k of all columns");
    if (problem.results() > 0 && entries_of(problem).blocks() > 2147483647)
        return Support::no("more than 2,147,483,647 blocks exceed the grid");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.results() == 0) return;
    const Entries entries = entries_of(problem);
    const bool whole_fours = problem.has_rows() && problem.k == problem.columns && problem.columns % 4 == 0;
    with_key_type(problem.keys, [&]<class T>(std::type_identity<T>) {
        if (whole_fours)
            return launch(copy_fours<T>, dim3(static_cast<unsigned>(entries.blocks())), dim3(kThreads), 0,
                          context.stream, entries.count / 4, problem.columns / 4,
                          reinterpret_cast<const Four<T>*>(keys_of<T>(buffers)),
                          reinterpret_cast<Four<T>*>(values_of<T>(buffers)), reinterpret_cast<int4*>(buffers.indices));
        launch(problem.has_rows() ? copy_rows<true, T> : copy_rows<false, T>,
               dim3(static_cast<unsigned>(entries.blocks())), dim3(kThreads), 0, context.stream, entries,
               problem.columns, keys_of<T>(buffers), values_of<T>(buffers), buffers.indices);
    });
}

}  // namespace

Variant<Problem> copy_rows() {
    return {.role = Role::modern,
            .summary = "copies the matrix and numbers its columns, where all of them are wanted in any order",
            .limits = "order=any and k of all columns",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {},
            .optional_features = {"layout", "order", "keys"},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
