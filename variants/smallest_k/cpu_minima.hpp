#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "kernels/core/thread_errors.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/cpu_lists.hpp"

/// Selection from rows on the CPU, with a bound on the k-th smallest before anything is kept. A block of a row that the
/// innermost cache holds is parted into more groups than k. The k-th smallest of the groups' minima is not below the
/// k-th smallest of the row, and with four groups to each of the k little more than k elements lie up to it, in
/// whatever order they come: descending rows cost what random ones do. The first block, a short one, is always bounded.
/// A later one begins with a probe, and is bounded only if much of that passes, or if the block before moved the limit:
/// ascending rows, equal values and most of a random row are read once.
namespace espalier::smallest_k::cpu {

/// Columns of a block: 32 KiB.
inline constexpr std::int64_t kBlockColumns = 8192;

/// Columns of the first block of a row. One in sixteen of what follows in random order lies within its bound.
constexpr std::int64_t first_block(std::int64_t k) {
    return std::clamp<std::int64_t>(16 * k, kBlockColumns / 8, kBlockColumns);
}

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
///   scan_all, as scan of `SampledLists`, of values the first of which has the index `first`
///   scan_below, the same where a number limits the list
///   static void transpose(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t columns, float* to,
///                         std::int64_t to_stride)    to[r * to_stride + c] = from[c * stride + r]
///   static void ranks(const Key*, std::int64_t count, std::int32_t*)                                        ranks_of
template <class Kernel>
class BoundedList : public Lists<Kernel> {
public:
    BoundedList(std::int64_t rows, std::int64_t k)
        : Lists<Kernel>(rows, k),
          k_(k),
          minima_(static_cast<std::size_t>(groups_for(kBlockColumns, k))),
          keys_(std::max(minima_.size(), kCounted + static_cast<std::size_t>(kKeysAtOnce))),
          ranks_(kCounted + static_cast<std::size_t>(kKeysAtOnce)),
          equals_(kCounted) {}

    /// Elements begin..end-1 of a row whose elements are neighbours.
    void scan(const float* row, std::int64_t begin, std::int64_t end) {
        for (std::int64_t columns = first_block(k_); begin < end; columns = kBlockColumns) {
            const std::int64_t count = std::min(columns, end - begin);
            scan_block(row + begin, begin, count);
            begin += count;
        }
    }

    /// `count` elements of the row, of which the first has the index `first`.
    void scan_block(const float* values, std::int64_t first, std::int64_t count) {
        std::int64_t begin = 0;
        if (!this->first().limited) {
            if (bound(values, count)) begin = scan_k(values, first, count);
        } else if (!falling_) {
            begin = std::min(count, kProbe);
            falling_ = scan_part(values, first, 0, begin) * kDense > begin;
        }
        if (falling_) falling_ = bound(values + begin, count - begin);
        scan_part(values, first, begin, count);
    }

    void clear() {
        Lists<Kernel>::clear();
        falling_ = false;
    }

    /// The k best of the row in order, filled up with empty entries.
    void finish(std::size_t i, std::vector<std::uint64_t>& to) {
        const List& list = this->shortened(i);
        to.resize(static_cast<std::size_t>(list.count));
        if (to.size() > kCounted) {
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
    static constexpr std::size_t kCounted = 256;  ///< longer lists are sorted
    static constexpr std::int64_t kProbe = 128;   ///< elements of a block that say whether to bound the rest
    static constexpr std::int64_t kDense = 4;     ///< one in so many became a candidate: not so in random order

    /// Elements begin..end-1 of a block. Returns how many became candidates.
    std::int64_t scan_part(const float* values, std::int64_t first, std::int64_t begin, std::int64_t end) {
        const auto step = [=](const float* of, std::int64_t from, std::int64_t to, List& candidates,
                              std::int64_t room) { return scan_some(of, first, from, to, candidates, room); };
        return this->scan_by(step, values, begin, end);
    }

    /// As Kernel::scan_all. Where a number limits, what is smaller is no NaN, and its comparison says it all.
    static std::int64_t scan_some(const float* values, std::int64_t first, std::int64_t begin, std::int64_t end,
                                  List& list, std::int64_t room) {
        const bool by_number = list.limited && list.limit_value == list.limit_value;
        return by_number ? Kernel::scan_below(values, first, begin, end, list, room)
                         : Kernel::scan_all(values, first, begin, end, list, room);
    }

    /// The elements of a row's first block, which is bounded, until k of them are listed. Of equals the earlier ones
    /// count, so later ones at the bound are left out: where values are few, most of a row may lie there. Returns where
    /// it stopped.
    std::int64_t scan_k(const float* values, std::int64_t first, std::int64_t count) {
        List& list = this->list(0);
        const std::int64_t begin = scan_some(values, first, 0, count, list, k_ - 1);
        if (list.count >= k_) this->bound_by(0, list.limit - 2);  // the limit is one beyond the bound, and is it now
        return begin;
    }

    /// Returns whether the limit is another one after.
    bool bound(const float* values, std::int64_t count) {
        const std::int64_t groups = groups_for(count, k_);
        if (groups == 0) return false;
        Kernel::minima(values, count, groups, minima_.data(), keys_.data());
        const auto wanted = static_cast<std::int32_t>(k_);
        const Key bound = Kernel::bound(keys_.data(), static_cast<std::size_t>(groups), wanted, wanted + wanted / 8);
        const List& list = this->first();
        // Infinity is what groups of no numbers have.
        if (bound >= std::bit_cast<Key>(std::numeric_limits<float>::infinity())) return false;
        if (list.limited && bound + 1 >= list.limit) return false;
        this->bound_by(0, bound);
        return true;
    }

    std::int64_t k_;
    bool falling_ = false;  ///< whether the last block had the k smallest so far, as all of descending rows have
    std::vector<float> minima_;
    std::vector<Key> keys_;
    std::vector<std::int32_t> ranks_;
    std::vector<std::uint32_t> equals_;  ///< that came before, of a rank
};

/// Sixteen neighbouring rows, whose elements of a column lie in one line of the cache, are transposed block by block.
template <class Kernel>
void select_transposed(const Problem& problem, const Buffers& buffers, int threads) {
    constexpr std::int64_t kRows = 16, kLeastColumns = 2048, kApart = 16;  // a power of two would share a cache's set
    const std::int64_t block =
        std::min(std::clamp<std::int64_t>(8 * problem.k, kLeastColumns, kBlockColumns), problem.columns);
    const std::int64_t groups = (problem.rows + kRows - 1) / kRows;
    ThreadErrors errors;
#pragma omp parallel num_threads(threads) if (groups > 1 && threads > 1)
    {
        std::vector<BoundedList<Kernel>> lists;
        std::unique_ptr<float[]> scratch;
        std::vector<std::uint64_t> entries;
        errors.guard([&] {
            for (std::int64_t i = 0; i < std::min(kRows, problem.rows); ++i) lists.emplace_back(1, problem.k);
            scratch = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(kRows * (block + kApart)));
        });
#pragma omp for schedule(static)
        for (std::int64_t g = 0; g < groups; ++g)
            errors.guard([&] {
                const std::int64_t first = g * kRows, rows = std::min(kRows, problem.rows - first);
                for (BoundedList<Kernel>& list : lists) list.clear();
                for (std::int64_t c = 0; c < problem.columns; c += block) {
                    const std::int64_t columns = std::min(block, problem.columns - c);
                    Kernel::transpose(buffers.distances + problem.at(first, c), problem.rows, rows, columns,
                                      scratch.get(), block + kApart);
                    for (std::int64_t i = 0; i < rows; ++i)
                        lists[static_cast<std::size_t>(i)].scan_block(scratch.get() + i * (block + kApart), c, columns);
                }
                for (std::int64_t i = 0; i < rows; ++i) {
                    lists[static_cast<std::size_t>(i)].finish(0, entries);
                    store(problem, buffers, first + i, entries);
                }
            });
    }
    errors.rethrow();
}

template <class Kernel>
void run_bounded(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    if (problem.k == 0 || problem.rows == 0) return;
    if (problem.has_rows())
        select_rows<BoundedList<Kernel>>(problem, buffers, context.device.threads);
    else
        select_transposed<Kernel>(problem, buffers, context.device.threads);
}

}  // namespace espalier::smallest_k::cpu
