// OpenMP over groups of rows (sources K, P). A group walks the columns together, because neighbouring
// rows are neighbours in memory. Each row keeps its k best in a heap; the value of the heap's top, the
// threshold, turns most elements away in one vectorised comparison of the whole group. A row-major matrix is
// walked row by row, and the comparison is of a stretch of the row.

#include <algorithm>
#include <span>
#include <vector>

#include "kernels/core/thread_errors.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/key_types.hpp"
#include "variants/smallest_k/order.hpp"

namespace espalier::smallest_k {
namespace {

/// The k best so far of numbers that are a T in memory, the last of them on top. `entries` has k of them, all empty.
template <class T>
class Heap {
public:
    explicit Heap(std::span<std::uint64_t> entries) : entries_(entries) {}

    void offer(Compared<T> value, std::uint32_t index) {
        const std::uint64_t entry = entry_of(key_of(value), index);
        if (entry >= entries_.front()) return;
        std::ranges::pop_heap(entries_);
        entries_.back() = entry;
        std::ranges::push_heap(entries_);
    }

    /// NaN or INT32_MAX until the heap is full.
    [[nodiscard]] Compared<T> threshold() const { return value_as<Compared<T>>(key_of_entry(entries_.front())); }

    void store(const Problem& problem, const Buffers& buffers, std::int64_t row) {
        std::ranges::sort_heap(entries_);
        for (std::int64_t j = 0; j < problem.k; ++j) {
            const std::uint64_t entry = entries_[static_cast<std::size_t>(j)];
            values_of<T>(buffers)[problem.result_at(row, j)] = stored<T>(value_as<Compared<T>>(key_of_entry(entry)));
            buffers.indices[problem.result_at(row, j)] = index_of_entry(entry);
        }
    }

private:
    std::span<std::uint64_t> entries_;
};

template <class T>
class Group {
public:
    Group(const Problem& problem, const Buffers& buffers, std::int64_t first, std::int64_t count)
        : problem_(problem),
          buffers_(buffers),
          first_(first),
          thresholds_(static_cast<std::size_t>(count), value_as<Compared<T>>(kEmptyKey)),
          entries_(static_cast<std::size_t>(count * problem.k), kEmptyEntry) {}

    void select() {
        for (std::int64_t c = 0; c < problem_.columns; ++c) {
            const T* column = keys_of<T>(buffers_) + c * problem_.rows + first_;
            if (!any_candidate(column)) continue;
            for (std::size_t i = 0; i < thresholds_.size(); ++i)
                if (may_come_before(compared(column[i]), thresholds_[i]))
                    offer(i, compared(column[i]), static_cast<std::uint32_t>(c));
        }
        for (std::size_t i = 0; i < thresholds_.size(); ++i)
            heap(i).store(problem_, buffers_, first_ + static_cast<std::int64_t>(i));
    }

private:
    [[nodiscard]] bool any_candidate(const T* column) const {
        int any = 0;
#pragma omp simd reduction(| : any)
        for (std::size_t i = 0; i < thresholds_.size(); ++i)
            any |= may_come_before(compared(column[i]), thresholds_[i]);
        return any != 0;
    }

    [[nodiscard]] Heap<T> heap(std::size_t i) {
        const auto k = static_cast<std::size_t>(problem_.k);
        return Heap<T>(std::span(entries_).subspan(i * k, k));
    }

    void offer(std::size_t i, Compared<T> value, std::uint32_t index) {
        heap(i).offer(value, index);
        thresholds_[i] = heap(i).threshold();
    }

    const Problem& problem_;
    const Buffers& buffers_;
    std::int64_t first_;
    std::vector<Compared<T>> thresholds_;  ///< NaN or INT32_MAX until the heap is full
    std::vector<std::uint64_t> entries_;
};

template <class T>
void select_row(const Problem& problem, const Buffers& buffers, std::int64_t row) {
    constexpr std::int64_t kStretch = 64;
    std::vector<std::uint64_t> entries(static_cast<std::size_t>(problem.k), kEmptyEntry);
    Heap<T> heap(entries);
    const T* values = keys_of<T>(buffers) + problem.at(row, 0);
    for (std::int64_t first = 0; first < problem.columns; first += kStretch) {
        const std::int64_t end = std::min(first + kStretch, problem.columns);
        const Compared<T> threshold = heap.threshold();
        int any = 0;
#pragma omp simd reduction(| : any)
        for (std::int64_t c = first; c < end; ++c) any |= may_come_before(compared(values[c]), threshold);
        if (!any) continue;
        for (std::int64_t c = first; c < end; ++c)
            if (const auto value = compared(values[c]); may_come_before(value, heap.threshold()))
                heap.offer(value, static_cast<std::uint32_t>(c));
    }
    heap.store(problem, buffers, row);
}

template <class T>
void select_rows(const Problem& problem, const Buffers& buffers, std::int64_t first, std::int64_t count) {
    if (problem.layout == MatrixLayout::transposed) return Group<T>(problem, buffers, first, count).select();
    for (std::int64_t row = first; row < first + count; ++row) select_row<T>(problem, buffers, row);
}

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

template <class T>
void select_all(const Problem& problem, const Buffers& buffers, std::int64_t rows) {
    ThreadErrors errors;
#pragma omp parallel for schedule(dynamic) if (problem.rows > rows)
    for (std::int64_t first = 0; first < problem.rows; first += rows)
        errors.guard([&] { select_rows<T>(problem, buffers, first, std::min(rows, problem.rows - first)); });
    errors.rethrow();
}

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.k == 0) return;
    with_key_type(problem.keys,
                  [&]<class T>(std::type_identity<T>) { select_all<T>(problem, buffers, configuration["rows"]); });
}

}  // namespace

Variant<Problem> cpu_openmp() {
    return {.summary = "OpenMP over groups of rows, a heap per row behind a vectorised threshold",
            .source = "K, P",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"rows", {16, 64}}},
            .optional_features = {"layout", "keys"},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
