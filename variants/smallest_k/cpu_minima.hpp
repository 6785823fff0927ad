#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/cpu_lists.hpp"

/// Selection from rows on the CPU, with a bound on the k-th smallest before anything is kept. A block of a row that the
/// innermost cache holds is parted into more groups than k. The k-th smallest of the groups' minima is not below the
/// k-th smallest of the row, and with four groups to each of the k little more than k elements lie up to it, in
/// whatever order they come: descending rows cost what random ones do.
namespace espalier::smallest_k::cpu {

/// Columns of a block: 32 KiB.
inline constexpr std::int64_t kBlockColumns = 8192;

/// Groups for so many elements, a power of two; 0: there are too few elements to bound k of them.
constexpr std::int64_t groups_for(std::int64_t elements, std::int64_t k) {
    constexpr std::uint64_t kLeast = 128;  // fewer are no cheaper: each vector of minima waits for its last minimum
    const auto wanted = std::max(std::bit_ceil(static_cast<std::uint64_t>(4 * k)), kLeast);
    const auto most = std::bit_floor(static_cast<std::uint64_t>(elements / 2));
    const auto groups = static_cast<std::int64_t>(std::min(wanted, most));
    return groups >= kKeysAtOnce && groups > k ? groups : 0;
}

/// Keys of the minima of `groups` groups: every so many-th element is of the same. Of a group of NaNs it is infinity's.
/// `inline` into functions that have a target attribute.
[[gnu::always_inline]] inline void minima_of(const float* values, std::int64_t count, std::int64_t groups,
                                             float* minima, Key* keys) {
    std::fill_n(minima, groups, std::numeric_limits<float>::infinity());
    for (std::int64_t first = 0; first < count; first += groups) {
        const std::int64_t some = std::min(groups, count - first);
#pragma omp simd
        for (std::int64_t g = 0; g < some; ++g)
            minima[g] = values[first + g] < minima[g] ? values[first + g] : minima[g];
    }
#pragma omp simd
    for (std::int64_t g = 0; g < groups; ++g) {
        const auto bits = std::bit_cast<std::int32_t>(minima[g] + 0.0F);  // -0 and +0 are one key
        keys[g] = bits ^ (bits >> 31 & 0x7FFFFFFF);
    }
}

/// How many of `count` keys, a whole number of vectors, are less than each of them. `inline` into functions that have a
/// target attribute.
[[gnu::always_inline]] inline void ranks_of(const Key* keys, std::int64_t count, std::int32_t* ranks) {
    for (std::int64_t i = 0; i < count; ++i) {
        std::int32_t less = 0;
#pragma omp simd reduction(+ : less)
        for (std::int64_t j = 0; j < count; ++j) less += keys[j] < keys[i] ? 1 : 0;
        ranks[i] = less;
    }
}

/// A list of one row, `Kernel` as of `Lists`, and
///   static void minima(const float* values, std::int64_t count, std::int64_t groups, float* minima, Key*)   minima_of
///   scan_below, as scan, where a number limits the list
///   static void ranks(const Key*, std::int64_t count, std::int32_t*)                                        ranks_of
template <class Kernel>
class BoundedList : public Lists<Kernel> {
public:
    BoundedList(std::int64_t rows, std::int64_t k)
        : Lists<Kernel>(rows, k),
          k_(k),
          minima_(static_cast<std::size_t>(groups_for(kBlockColumns, k))),
          keys_(std::max(minima_.size(), static_cast<std::size_t>(kCounted + kKeysAtOnce))),
          ranks_(keys_.size()),
          equals_(keys_.size()) {}

    /// Elements begin..end-1 of a row whose elements are neighbours.
    void scan(const float* row, std::int64_t begin, std::int64_t end) {
        const List& list = this->first();
        std::int64_t added = k_;  // of the last block; few say that the limit is near
        for (std::int64_t stop = 0; begin < end; begin = stop) {
            stop = std::min(begin + kBlockColumns, end);
            if (!list.limited || added >= k_) bound(row + begin, stop - begin);
            // Where a number limits, what is smaller is no NaN, and its comparison says it all.
            const bool by_number = list.limited && list.limit_value == list.limit_value;
            added = this->scan_by(by_number ? Kernel::scan_below : Kernel::scan, row, begin, stop);
        }
    }

    /// The k best of the row in order, filled up with empty entries.
    void finish(std::size_t i, std::vector<std::uint64_t>& to) {
        const List& list = this->shortened(i);
        to.resize(static_cast<std::size_t>(list.count));
        if (list.count > kCounted) {
            for (std::int64_t j = 0; j < list.count; ++j)
                to[static_cast<std::size_t>(j)] = entry_of_signed(list.keys[j], list.indices[j]);
            return this->best_in_order(to, k_);
        }
        // A place is how many come before it: n^2 / 16 comparisons, and no branch that a processor would have to guess.
        const std::int64_t whole = (list.count + kKeysAtOnce - 1) / kKeysAtOnce * kKeysAtOnce;
        std::copy_n(list.keys, list.count, keys_.begin());
        std::fill(keys_.begin() + list.count, keys_.begin() + whole, std::numeric_limits<Key>::max());
        Kernel::ranks(keys_.data(), whole, ranks_.data());
        std::fill_n(equals_.begin(), list.count, 0);
        for (std::int64_t j = 0; j < list.count; ++j) {
            const auto rank = static_cast<std::size_t>(ranks_[static_cast<std::size_t>(j)]);
            to[rank + equals_[rank]++] = entry_of_signed(list.keys[j], list.indices[j]);  // equals in the list's order
        }
        to.resize(static_cast<std::size_t>(k_), kEmptyEntry);
    }

private:
    static constexpr std::int64_t kCounted = 256;  ///< longer lists are sorted

    void bound(const float* values, std::int64_t count) {
        const std::int64_t groups = groups_for(count, k_);
        if (groups == 0) return;
        Kernel::minima(values, count, groups, minima_.data(), keys_.data());
        const auto wanted = static_cast<std::int32_t>(k_);
        const Key bound = Kernel::bound(keys_.data(), static_cast<std::size_t>(groups), wanted, wanted + wanted / 8);
        // Infinity is what groups of no numbers have.
        if (bound < std::bit_cast<Key>(std::numeric_limits<float>::infinity())) this->bound_by(bound);
    }

    std::int64_t k_;
    std::vector<float> minima_;
    std::vector<Key> keys_;
    std::vector<std::int32_t> ranks_;
    std::vector<std::uint32_t> equals_;  ///< that came before, of a rank
};

template <class Kernel>
void run_bounded(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.k == 0 || problem.rows == 0) return;
    select_rows<BoundedList<Kernel>>(problem, buffers, context.device.threads);
}

}  // namespace espalier::smallest_k::cpu
