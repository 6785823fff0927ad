// OpenMP over groups of rows (sources K, P). A group walks the columns together, because neighbouring
// rows are neighbours in memory. Each row keeps its k best in a heap; the value of the heap's top, the
// threshold, turns most elements away in one vectorised comparison of the whole group.

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/order.hpp"

namespace espalier::smallest_k {
namespace {

class Group {
public:
    Group(const Problem& problem, const Buffers& buffers, std::int64_t first, std::int64_t count)
        : problem_(problem),
          buffers_(buffers),
          first_(first),
          thresholds_(static_cast<std::size_t>(count), std::numeric_limits<float>::quiet_NaN()),
          entries_(static_cast<std::size_t>(count * problem.k), kEmptyEntry) {}

    void select() {
        for (std::int64_t c = 0; c < problem_.columns; ++c) {
            const float* column = buffers_.distances + c * problem_.rows + first_;
            if (!any_candidate(column)) continue;
            for (std::size_t i = 0; i < thresholds_.size(); ++i)
                if (may_come_before(column[i], thresholds_[i])) offer(i, column[i], static_cast<std::uint32_t>(c));
        }
        for (std::size_t i = 0; i < thresholds_.size(); ++i) store(i);
    }

private:
    [[nodiscard]] bool any_candidate(const float* column) const {
        int any = 0;
#pragma omp simd reduction(| : any)
        for (std::size_t i = 0; i < thresholds_.size(); ++i) any |= may_come_before(column[i], thresholds_[i]);
        return any != 0;
    }

    [[nodiscard]] auto heap(std::size_t i) { return entries_.begin() + static_cast<std::ptrdiff_t>(i) * problem_.k; }

    void offer(std::size_t i, float value, std::uint32_t index) {
        const auto begin = heap(i), end = begin + problem_.k;
        const std::uint64_t entry = entry_of(key_of(value), index);
        if (entry >= *begin) return;
        std::pop_heap(begin, end);
        *(end - 1) = entry;
        std::push_heap(begin, end);
        thresholds_[i] = value_of(key_of_entry(*begin));
    }

    void store(std::size_t i) {
        const auto begin = heap(i), end = begin + problem_.k;
        std::sort_heap(begin, end);
        for (std::int64_t j = 0; j < problem_.k; ++j) {
            const std::int64_t at = j * problem_.rows + first_ + static_cast<std::int64_t>(i);
            buffers_.values[at] = value_of(key_of_entry(begin[j]));
            buffers_.indices[at] = index_of_entry(begin[j]);
        }
    }

    const Problem& problem_;
    const Buffers& buffers_;
    std::int64_t first_;
    std::vector<float> thresholds_;  ///< NaN until the heap is full
    std::vector<std::uint64_t> entries_;
};

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.k == 0) return;
    const std::int64_t rows = configuration["rows"];
#pragma omp parallel for schedule(dynamic) if (problem.rows > rows)
    for (std::int64_t first = 0; first < problem.rows; first += rows)
        Group(problem, buffers, first, std::min(rows, problem.rows - first)).select();
}

}  // namespace

Variant<Problem> cpu_openmp() {
    return {.summary = "OpenMP over groups of rows, a heap per row behind a vectorised threshold",
            .source = "K, P",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"rows", {16, 64}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
