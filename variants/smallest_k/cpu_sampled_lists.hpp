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
#include "variants/smallest_k/cpu_lists.hpp"

/// Selection on the CPU with lists alone: elements are compared with the limit that the list has, and no other is asked
/// for in random order. Where nearly everything comes before it, as in descending rows, a sample of the rest of the row
/// gives another one, which little comes before.
namespace espalier::smallest_k::cpu {

/// Elements of a row are sampled by so many neighbours: a line of the cache.
inline constexpr std::int64_t kSampledAtOnce = 16;

/// How many of `rest` elements to sample for a limit, about as many as then cost what the sample does; 0: too few are
/// left. A limit from n of them lets k in n through.
constexpr std::int64_t sample_size(std::int64_t rest, std::int64_t k) {
    constexpr std::int64_t kMost = 16'384;
    if (rest < std::max(8 * k, 8 * kSampledAtOnce)) return 0;
    std::int64_t size = kSampledAtOnce;
    while (size * size < 2 * rest * k && size < kMost) size *= 2;
    return std::min(size, rest / 2 / kSampledAtOnce * kSampledAtOnce);
}

/// The lists of neighbouring rows. `Kernel` as of `Lists`, and
///   static Key key(float)
///   static std::int64_t scan(const float* row, std::int64_t begin, std::int64_t end, List&, std::int64_t room)
///       appends what comes before the limit until the row ends or more than `room` candidates are there; where it
///       ended
///   static std::uint64_t candidates(const float* values, const float* limits, std::int64_t count)
///       of up to kMostRows values: the set of those that may come before their limits
template <class Kernel>
class SampledLists : public Lists<Kernel> {
public:
    SampledLists(std::int64_t rows, std::int64_t k)
        : Lists<Kernel>(rows, k), last_cuts_(static_cast<std::size_t>(rows)) {}

    void clear() {
        Lists<Kernel>::clear();
        std::fill(last_cuts_.begin(), last_cuts_.end(), Cut{});
        sampled_ = kNever;
    }

    /// Elements begin..end-1 of a row whose elements are neighbours.
    void scan(const float* row, std::int64_t begin, std::int64_t end) {
        List& list = this->list(0);
        while (begin < end) {
            begin = Kernel::scan(row, begin, end, list, this->capacity());
            if (list.count <= this->capacity()) continue;
            if (cut_densely(0, begin) && may_sample(end - begin)) sample(0, row + begin, end - begin, 1);
        }
    }

    /// All rows side by side, kMostRows at most; a column's elements are neighbours, columns are `stride` apart.
    void scan_columns(const float* first, std::int64_t columns, std::int64_t stride) {
        for (std::int64_t c = 0; c < columns; ++c, first += stride) {
            std::uint64_t found = Kernel::candidates(first, this->limits(), this->rows());
            if (!found) continue;
            bool dense = false;
            for (; found; found &= found - 1) {
                const int i = std::countr_zero(found);
                dense |= offer(static_cast<std::size_t>(i), first[i], c);
            }
            if (!dense || !may_sample(columns - c - 1)) continue;
            for (std::int64_t i = 0; i < this->rows(); ++i) {
                sample(static_cast<std::size_t>(i), first + stride + i, columns - c - 1, stride);
                this->renew_limit(static_cast<std::size_t>(i));
            }
        }
    }

private:
    /// How many elements had been scanned, and how many candidates were left.
    struct Cut {
        std::int64_t at = 0, left = 0;
    };
    static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

    /// Returns whether the list was cut, and densely.
    bool offer(std::size_t i, float value, std::int64_t column) {
        List& list = this->list(i);
        const Key key = Kernel::key(value);
        if (list.limited && key >= list.limit) return false;
        list.append(key, column);
        if (list.count < this->capacity()) return false;
        const bool dense = cut_densely(i, column + 1);
        this->renew_limit(i);
        return dense;
    }

    /// Cuts a list after `at` elements. Returns whether it had a limit that four of five since the last cut came
    /// before, which in random order hardly happens.
    bool cut_densely(std::size_t i, std::int64_t at) {
        List& list = this->list(i);
        Cut& last = last_cuts_[i];
        const bool dense = list.limited && 4 * (at - last.at) < 5 * (list.count - last.left);
        this->cut(i);
        last = {at, list.count};
        return dense;
    }

    /// Whether to sample the rest of the rows: each time it is half of what it was, at most, so that samples of rows
    /// that they say nothing of cost little.
    bool may_sample(std::int64_t rest) {
        if (rest > sampled_ / 2 || sample_size(rest, this->k()) == 0) return false;
        sampled_ = rest;
        return true;
    }

    /// Limits a list by some of the row's `count` elements to come, `stride` apart, from the last one on: there are
    /// the smallest of a descending row.
    void sample(std::size_t i, const float* rest, std::int64_t count, std::int64_t stride) {
        const std::int64_t size = sample_size(count, this->k()), lines = size / kSampledAtOnce, apart = count / lines;
        sample_.resize(static_cast<std::size_t>(size));
        std::size_t at = 0;
        for (std::int64_t line = 0, c = count - kSampledAtOnce; line < lines; ++line, c -= apart)
            for (std::int64_t j = 0; j < kSampledAtOnce; ++j) sample_[at++] = Kernel::key(rest[(c + j) * stride]);
        const auto wanted = static_cast<std::int32_t>(this->k());
        const Key bound = Kernel::bound(sample_.data(), sample_.size(), wanted, wanted + wanted / 8);
        if (bound < Kernel::key(std::numeric_limits<float>::infinity())) this->bound_by(i, bound);
    }

    std::vector<Cut> last_cuts_;
    std::vector<Key> sample_;
    std::int64_t sampled_ = kNever;  ///< elements that the last sample was of
};

/// How many neighbouring rows a thread takes at once: `most` at most, and where each thread takes few such groups, so
/// many that all have as much to do. Half a cache line of each column at least.
inline std::int64_t group_size(const Problem& problem, std::int64_t most, std::int64_t threads) {
    constexpr std::int64_t kLeast = 8, kFewTurns = 4, kAlone = 1 << 15;  // elements, while a second thread wakes up
    const std::int64_t turns = (problem.rows + most * threads - 1) / (most * threads);
    if (turns > kFewTurns || problem.elements() < kAlone) return most;
    return std::clamp((problem.rows + turns * threads - 1) / (turns * threads), kLeast, most);
}

/// Groups of neighbouring rows, whose elements of one column are neighbours.
template <class Kernel>
void select_columns(const Problem& problem, const Buffers& buffers, int threads, std::int64_t most) {
    const std::int64_t group = group_size(problem, most, threads);
    const std::int64_t groups = (problem.rows + group - 1) / group;
    ThreadErrors errors;
#pragma omp parallel num_threads(threads) if (groups > 1 && threads > 1)
    {
        std::unique_ptr<SampledLists<Kernel>> lists;
        std::vector<std::uint64_t> entries;
        errors.guard([&] { lists = std::make_unique<SampledLists<Kernel>>(group, problem.k); });
#pragma omp for schedule(static)
        for (std::int64_t g = 0; g < groups; ++g)
            errors.guard([&] {
                const std::int64_t first = g * group, rows = std::min(group, problem.rows - first);
                if (rows < group) *lists = SampledLists<Kernel>(rows, problem.k);
                lists->clear();
                lists->scan_columns(buffers.distances + first, problem.columns, problem.rows);
                for (std::int64_t i = 0; i < rows; ++i) {
                    lists->finish(static_cast<std::size_t>(i), entries);
                    store(problem, buffers, first + i, entries);
                }
            });
    }
    errors.rethrow();
}

template <class Kernel>
void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.k == 0 || problem.rows == 0) return;
    if (problem.has_rows())
        select_rows<SampledLists<Kernel>>(problem, buffers, context.device.threads);
    else
        select_columns<Kernel>(problem, buffers, context.device.threads, configuration["rows"]);
}

/// Neighbouring elements are one row's in a row-major matrix, whatever the group.
inline Support supports_group(const Problem& problem, const Configuration& configuration) {
    if (problem.has_rows() && configuration["rows"] != 16)
        return Support::no("groups are of a transposed matrix: here the same as rows=16");
    return Support::yes();
}

}  // namespace espalier::smallest_k::cpu
