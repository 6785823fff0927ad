#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/core/thread_errors.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/key_bound.hpp"
#include "variants/smallest_k/order.hpp"

/// Selection on the CPU with lists that grow: what comes before the limit is appended, in the order of its index, and a
/// list that is full is cut back to little more than its k best, which moves the limit.
namespace espalier::smallest_k::cpu {

/// Keys of order.hpp as signed integers, which vector instructions compare.
using Key = std::int32_t;
inline constexpr Key kNan = static_cast<Key>(kNanKey ^ 0x80000000U);
inline std::uint64_t entry_of_signed(Key key, std::int32_t index) {
    return entry_of(static_cast<std::uint32_t>(key) ^ 0x80000000U, static_cast<std::uint32_t>(index));
}

/// Lists are read so many keys at a time.
inline constexpr std::int64_t kKeysAtOnce = 16;

/// Rows are compared with their limits by sets of so many.
inline constexpr std::int64_t kMostRows = 64;

/// A scan may write so many entries beyond the capacity before it looks.
inline constexpr std::int64_t kOvershoot = 64;

/// A cut costs by the length of the list and happens once in capacity - k elements at most.
constexpr std::int64_t capacity_for(std::int64_t k) { return (k + std::max<std::int64_t>(k, 120) + 15) / 16 * 16; }

/// Candidates of one row, by ascending index.
struct List {
    Key* keys = nullptr;
    std::int32_t* indices = nullptr;
    std::int64_t count = 0;
    bool limited = false;  ///< whether there is a limit: k of the candidates are at most as large
    Key limit = kNan;
    float limit_value = std::numeric_limits<float>::quiet_NaN();  ///< a comparison with NaN turns nothing away

    void append(Key key, std::int64_t index) {
        keys[count] = key;
        indices[count++] = static_cast<std::int32_t>(index);
    }
};

/// The lists of some rows, which those that derive from it fill. `Kernel` has
///   static Key bound(const Key*, std::size_t count, std::int32_t wanted, std::int32_t enough)    bound_of
///   static std::int64_t keep(List&, Key bound)
///       drops the candidates beyond the bound and says how many of the others are smaller
template <class Kernel>
class Lists {
public:
    Lists(std::int64_t rows, std::int64_t k)
        : k_(k),
          capacity_(capacity_for(k)),
          lists_(static_cast<std::size_t>(rows)),
          limits_(kMostRows, std::numeric_limits<float>::quiet_NaN()) {
        const auto each = static_cast<std::size_t>(capacity_ + kOvershoot);
        keys_ = std::make_unique_for_overwrite<Key[]>(each * lists_.size());
        indices_ = std::make_unique_for_overwrite<std::int32_t[]>(each * lists_.size());
        for (std::size_t i = 0; i < lists_.size(); ++i) {
            lists_[i].keys = keys_.get() + i * each;
            lists_[i].indices = indices_.get() + i * each;
        }
    }

    void clear() {
        for (List& list : lists_) list = {.keys = list.keys, .indices = list.indices};
        std::fill(limits_.begin(), limits_.end(), std::numeric_limits<float>::quiet_NaN());
    }

    /// Of row i, k elements that are scanned sooner or later are at most `bound`: none beyond it is taken.
    void bound_by(std::size_t i, Key bound) {
        List& list = lists_[i];
        const Key limit = bound + 1;
        if (!list.limited || limit < list.limit) limit_to(list, limit);
    }

    [[nodiscard]] const List& first() const { return lists_.front(); }

    /// The k best of a row in order, filled up with empty entries.
    void finish(std::size_t i, std::vector<std::uint64_t>& to) {
        const List& list = shortened(i);
        to.clear();
        for (std::int64_t j = 0; j < list.count; ++j) to.push_back(entry_of_signed(list.keys[j], list.indices[j]));
        best_in_order(to, k_);
    }

    static void best_in_order(std::vector<std::uint64_t>& entries, std::int64_t k) {
        std::sort(entries.begin(), entries.end());
        entries.resize(static_cast<std::size_t>(k), kEmptyEntry);
    }

protected:
    [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(lists_.size()); }
    [[nodiscard]] std::int64_t k() const { return k_; }
    /// A list that has so many candidates is cut.
    [[nodiscard]] std::int64_t capacity() const { return capacity_; }
    [[nodiscard]] List& list(std::size_t i) { return lists_[i]; }
    [[nodiscard]] const float* limits() const { return limits_.data(); }
    /// What turns the i-th of neighbouring rows' elements away is from now on what its list says.
    void renew_limit(std::size_t i) { limits_[i] = lists_[i].limit_value; }

    /// The row's candidates, cut back if they are many more than k.
    const List& shortened(std::size_t i) {
        if (lists_[i].count > enough()) cut(i);
        return lists_[i];
    }

    /// Scans elements begin..end-1 of the first row by `step`, which is called like Kernel::scan. Returns how many
    /// became candidates.
    template <class Step>
    std::int64_t scan_by(Step step, const float* row, std::int64_t begin, std::int64_t end) {
        List& list = lists_.front();
        std::int64_t added = 0;
        while (begin < end) {
            added -= list.count;
            begin = step(row, begin, end, list, capacity_);
            added += list.count;
            if (list.count > capacity_) cut(0);
        }
        return added;
    }

    /// What comes later is none of the k best unless it is smaller than the bound: of equals the earlier ones count.
    void cut(std::size_t i) {
        List& list = lists_[i];
        // A whole number of vectors: the largest key after all that there are.
        const auto whole = (list.count + kKeysAtOnce - 1) / kKeysAtOnce * kKeysAtOnce;
        std::fill(list.keys + list.count, list.keys + whole, std::numeric_limits<Key>::max());
        limit_to(list,
                 Kernel::bound(list.keys, static_cast<std::size_t>(whole), static_cast<std::int32_t>(k_), enough()));
        const std::int64_t smaller = Kernel::keep(list, list.limit);
        if (list.count > enough()) drop_ties(list, k_ - smaller);
    }

private:
    /// So many candidates are left at most: to find exactly k is dearer than to keep a few more.
    [[nodiscard]] std::int32_t enough() const { return static_cast<std::int32_t>(k_ + (capacity_ - k_) / 8); }

    static void limit_to(List& list, Key limit) {
        list.limited = true;
        list.limit = limit;
        list.limit_value = value_of(static_cast<std::uint32_t>(limit) ^ 0x80000000U);
    }

    /// All but the first `wanted` of those at the limit.
    static void drop_ties(List& list, std::int64_t wanted) {
        std::int64_t kept = 0;
        for (std::int64_t j = 0; j < list.count; ++j) {
            const bool ties = list.keys[j] == list.limit;
            list.keys[kept] = list.keys[j];
            list.indices[kept] = list.indices[j];
            kept += !ties || wanted > 0 ? 1 : 0;
            wanted -= ties ? 1 : 0;
        }
        list.count = kept;
    }

    std::int64_t k_, capacity_;
    std::unique_ptr<Key[]> keys_;
    std::unique_ptr<std::int32_t[]> indices_;
    std::vector<List> lists_;
    std::vector<float> limits_;  ///< of neighbouring rows' lists, side by side
};

inline void store(const Problem& problem, const Buffers& buffers, std::int64_t row,
                  const std::vector<std::uint64_t>& entries) {
    for (std::int64_t j = 0; j < problem.k; ++j) {
        const std::uint64_t entry = entries[static_cast<std::size_t>(j)];
        buffers.values[problem.result_at(row, j)] = value_of(key_of_entry(entry));
        buffers.indices[problem.result_at(row, j)] = index_of_entry(entry);
    }
}

/// Rows are dealt to the threads; of fewer rows than threads, stretches of them. `Lists` as the class of that name.
template <class Lists>
void select_rows(const Problem& problem, const Buffers& buffers, int threads) {
    constexpr std::int64_t kLeastStretch = 1 << 15;
    const std::int64_t most_parts = std::max<std::int64_t>(problem.columns / std::max(kLeastStretch, 2 * problem.k), 1);
    const std::int64_t parts = problem.rows >= 2 * threads ? 1 : std::min<std::int64_t>(threads, most_parts);
    const std::int64_t stretch = (problem.columns + parts - 1) / parts;
    std::vector<std::vector<std::uint64_t>> found(static_cast<std::size_t>(parts > 1 ? problem.rows * parts : 0));
    const bool alone = threads == 1 || problem.rows * parts == 1 || problem.elements() < kLeastStretch;
    ThreadErrors errors;
#pragma omp parallel num_threads(threads) if (!alone)
    {
        std::unique_ptr<Lists> lists;
        std::vector<std::uint64_t> entries;
        errors.guard([&] { lists = std::make_unique<Lists>(1, problem.k); });
#pragma omp for schedule(static)
        for (std::int64_t task = 0; task < problem.rows * parts; ++task)
            errors.guard([&] {
                const std::int64_t row = task / parts, begin = task % parts * stretch;
                lists->clear();
                lists->scan(buffers.distances + problem.at(row, 0), begin, std::min(begin + stretch, problem.columns));
                lists->finish(0, entries);
                if (parts == 1)
                    store(problem, buffers, row, entries);
                else
                    found[static_cast<std::size_t>(task)] = entries;
            });
    }
    errors.rethrow();
    if (parts == 1) return;
    for (std::int64_t row = 0; row < problem.rows; ++row) {
        std::vector<std::uint64_t> entries;
        for (std::int64_t part = 0; part < parts; ++part)
            for (const std::uint64_t entry : found[static_cast<std::size_t>(row * parts + part)])
                entries.push_back(entry);
        Lists::best_in_order(entries, problem.k);
        store(problem, buffers, row, entries);
    }
}

}  // namespace espalier::smallest_k::cpu
