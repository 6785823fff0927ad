#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "kernels/core/thread_errors.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/x86/transpose_block.hpp"

#ifndef ESPALIER_TARGET
#error "the file that includes this names its instruction set: __attribute__((target(...)))"
#endif

/// Selection on the CPU with a row to each lane of a vector: `register_insertion` of the GPU, as a processor has it.
/// The lists of neighbouring rows are sorted at all times. A column's elements are compared with the last entries of
/// their rows' lists at once; where one comes before, the whole vector is inserted, without a branch for each element.
/// What an insertion costs grows with k. The last columns of long rows are looked at first: they bound the k smallest,
/// and in descending rows nearly nothing else is inserted.
namespace espalier::smallest_k {
namespace {

inline constexpr std::int64_t kMostInserted = 32;  ///< the largest k
/// The key of NaN as a signed integer, which vector instructions compare.
inline constexpr auto kNanLane = static_cast<std::int32_t>(kNanKey ^ 0x80000000U);
inline constexpr auto kEmptyLane = static_cast<std::int32_t>(kEmptyKey ^ 0x80000000U);

/// `Vectors` has `kLanes`, `Floats`, `Ints`, what a comparison gives (`Lanes`), and the instructions below.
template <class Vectors>
class LaneLists {
    using Floats = typename Vectors::Floats;
    using Ints = typename Vectors::Ints;
    using Lanes = typename Vectors::Lanes;
    static constexpr std::int64_t kLanes = Vectors::kLanes;

public:
    static constexpr std::int64_t kRows = 64;  ///< of a group

    explicit LaneLists(std::int64_t k) : k_(k) {}

    void clear() {
        std::fill_n(bounds_, kRows, kEmptyLane);
        std::fill_n(limits_, kRows, std::numeric_limits<float>::quiet_NaN());
        empty();
    }

    /// Empties the lists after k columns or more that are scanned once more later: nothing beyond their k-th is wanted.
    ESPALIER_TARGET void keep_bounds() {
        for (std::int64_t r = 0; r < kRows; r += kLanes) {
            Vectors::store(bounds_ + r, Vectors::next(Vectors::load(last_keys() + r)));
            Vectors::store(limits_ + r, Vectors::values_of(Vectors::load(bounds_ + r)));
        }
        empty();
    }

    /// `columns` columns of `rows` rows, a whole number of vectors, the first of which has the index `first`; the
    /// elements of a column are neighbours, columns are `stride` apart.
    ESPALIER_TARGET void scan(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns,
                              std::int64_t first) {
        for (std::int64_t c = 0; c < columns; ++c, from += stride)
            for (std::int64_t r = 0; r < rows; r += kLanes) {
                const Floats values = Vectors::load(from + r);
                if (Vectors::any(Vectors::not_above(values, Vectors::load(limits_ + r))))
                    insert(r, values, static_cast<std::int32_t>(first + c));
            }
    }

    /// The lists of the first `rows` rows, which are the problem's from `first` on.
    void store(const Problem& problem, const Buffers& buffers, std::int64_t first, std::int64_t rows) const {
        const bool neighbours = problem.layout == MatrixLayout::row_major;
        const std::int64_t outer = neighbours ? rows : k_, inner = neighbours ? k_ : rows;
        for (std::int64_t a = 0; a < outer; ++a)
            for (std::int64_t b = 0; b < inner; ++b) {
                const std::int64_t row = neighbours ? a : b, j = neighbours ? b : a;
                const std::int64_t to = problem.result_at(first + row, j);
                buffers.values[to] = value_of(static_cast<std::uint32_t>(keys_[j * kRows + row]) ^ 0x80000000U);
                buffers.indices[to] = indices_[j * kRows + row];
            }
    }

private:
    /// Elements of the column `index` of the rows from r on. Of equals the earlier one stays in front.
    ESPALIER_TARGET void insert(std::int64_t r, Floats values, std::int32_t index) {
        const Ints keys = Vectors::keys_of(values), indices = Vectors::all(index);
        std::int32_t *key_at = keys_ + (k_ - 1) * kRows + r, *index_at = indices_ + (k_ - 1) * kRows + r;
        Ints key = Vectors::load(key_at), at = Vectors::load(index_at);
        Lanes before = Vectors::less(keys, key);
        for (std::int64_t j = k_ - 1; j > 0; --j, key_at -= kRows, index_at -= kRows) {
            const Ints lower_key = Vectors::load(key_at - kRows), lower_at = Vectors::load(index_at - kRows);
            const Lanes lower = Vectors::less(keys, lower_key);
            Vectors::store(key_at, Vectors::pick(before, Vectors::pick(lower, lower_key, keys), key));
            Vectors::store(index_at, Vectors::pick(before, Vectors::pick(lower, lower_at, indices), at));
            key = lower_key, at = lower_at, before = lower;
        }
        Vectors::store(key_at, Vectors::pick(before, keys, key));
        Vectors::store(index_at, Vectors::pick(before, indices, at));
        Vectors::store(bounds_ + r, Vectors::smaller(Vectors::load(bounds_ + r), Vectors::load(last_keys() + r)));
        Vectors::store(limits_ + r, Vectors::values_of(Vectors::load(bounds_ + r)));
    }

    void empty() {
        std::fill_n(keys_, k_ * kRows, kEmptyLane);
        std::fill_n(indices_, k_ * kRows, kNoIndex);
    }

    [[nodiscard]] const std::int32_t* last_keys() const { return keys_ + (k_ - 1) * kRows; }

    std::int64_t k_;
    alignas(64) std::int32_t keys_[kMostInserted * kRows];  ///< the j-th of row r at j * kRows + r, as signed keys
    alignas(64) std::int32_t indices_[kMostInserted * kRows];
    alignas(64) std::int32_t bounds_[kRows];  ///< what is not less is none of the k smallest
    alignas(64) float limits_[kRows];         ///< the same as numbers; NaN turns nothing away
};

/// What a group's rows are copied to where they are no neighbours or fill no vector.
template <class Vectors>
class LaneRows {
    static constexpr std::int64_t kRows = LaneLists<Vectors>::kRows, kColumns = 64;

public:
    explicit LaneRows(std::int64_t k)
        : lists_(std::make_unique<LaneLists<Vectors>>(k)), copy_(std::make_unique<float[]>(kRows * kColumns)) {}

    void select(const Problem& problem, const Buffers& buffers, std::int64_t first, std::int64_t rows) {
        const std::int64_t last = (2 * problem.k + 15) / 16 * 16;  // of which one in two or more lies beyond the k-th
        lists_->clear();
        if (problem.columns >= 32 * last) {
            scan(problem, buffers, first, rows, problem.columns - last);
            lists_->keep_bounds();
        }
        scan(problem, buffers, first, rows, 0);
        lists_->store(problem, buffers, first, rows);
    }

private:
    /// Columns from `begin` on.
    void scan(const Problem& problem, const Buffers& buffers, std::int64_t first, std::int64_t rows,
              std::int64_t begin) {
        const std::int64_t lanes = (rows + Vectors::kLanes - 1) / Vectors::kLanes * Vectors::kLanes;
        const float* const from = buffers.distances;
        if (!problem.has_rows() && lanes == rows)
            return lists_->scan(from + problem.at(first, begin), problem.rows, rows, problem.columns - begin, begin);
        for (std::int64_t c = begin; c < problem.columns; c += kColumns) {
            const std::int64_t columns = std::min(kColumns, problem.columns - c);
            copy(problem, from + problem.at(first, c), rows, columns);
            lists_->scan(copy_.get(), kRows, lanes, columns, c);
        }
    }

    void copy(const Problem& problem, const float* from, std::int64_t rows, std::int64_t columns) {
        if (problem.has_rows()) return transpose_block(from, problem.columns, columns, rows, copy_.get(), kRows);
        for (std::int64_t c = 0; c < columns; ++c) std::copy_n(from + c * problem.rows, rows, copy_.get() + c * kRows);
    }

    std::unique_ptr<LaneLists<Vectors>> lists_;
    std::unique_ptr<float[]> copy_;  ///< column by column; rows beyond a group's last are of zeros or of another group
};

/// Rows of a group: so many that all threads have as much to do, and whole vectors but for the last.
template <class Vectors>
std::int64_t rows_at_once(const Problem& problem, std::int64_t threads) {
    constexpr std::int64_t kMost = LaneLists<Vectors>::kRows, kFewTurns = 4;
    const std::int64_t turns = (problem.rows + kMost * threads - 1) / (kMost * threads);
    if (turns > kFewTurns) return kMost;
    const std::int64_t even = (problem.rows + turns * threads - 1) / (turns * threads);
    return std::min((even + Vectors::kLanes - 1) / Vectors::kLanes * Vectors::kLanes, kMost);
}

template <class Vectors>
void run_lanes(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    constexpr std::int64_t kAlone = 1 << 15;  // elements, while a second thread wakes up
    if (problem.k == 0 || problem.rows == 0) return;
    const int threads = context.device.threads;
    const std::int64_t group = rows_at_once<Vectors>(problem, threads);
    const std::int64_t groups = (problem.rows + group - 1) / group;
    ThreadErrors errors;
#pragma omp parallel num_threads(threads) if (groups > 1 && threads > 1 && problem.elements() >= kAlone)
    {
        std::unique_ptr<LaneRows<Vectors>> rows;
        errors.guard([&] { rows = std::make_unique<LaneRows<Vectors>>(problem.k); });
#pragma omp for schedule(static)
        for (std::int64_t g = 0; g < groups; ++g)
            errors.guard([&] { rows->select(problem, buffers, g * group, std::min(group, problem.rows - g * group)); });
    }
    errors.rethrow();
}

inline Support supports_lanes(const Problem& problem) {
    if (problem.k > kMostInserted) return Support::no("inserts into lists of at most 32");
    return Support::yes();
}

}  // namespace
}  // namespace espalier::smallest_k
