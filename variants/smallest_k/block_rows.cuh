#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "device/kernel.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/row_cut.cuh"

/// Selection from row-major rows of any length, each a block's or several blocks' in slices. A stripe of the row lies
/// in the block's registers at a time; row_cut.cuh leaves little more than k elements of it, and once k are found only
/// what comes before the last of them. They gather in shared memory and are sorted there by a bitonic network, when it
/// is full and at the end. A stripe of which everything is better than all before costs what the first one costs; for
/// that a row of three stripes or more begins with one near its end, so that neither ascending nor descending ones have
/// more than two of them.
namespace espalier::smallest_k {
namespace {

/// 72 to 80 registers a thread, without spills, and enough blocks to hide the barriers of one.
constexpr int blocks_per_sm(int threads) { return threads == 128 ? 7 : 768 / threads; }

/// All threads of a block. Each warp leaves its part of an answer in shared memory, where all read it behind a barrier;
/// the next answer takes the other half, so that one barrier each is enough.
template <int threads>
struct BlockGroup {
    static constexpr int kSize = threads, kWarps = threads / kLanes;

    __device__ int rank() const { return static_cast<int>(threadIdx.x); }
    __device__ bool any(bool open) const { return open; }  // the same in every thread

    __device__ int sum(int value) {
        return combined(__reduce_add_sync(kAll, value), [](int a, int b) { return a + b; });
    }
    __device__ std::uint32_t least(std::uint32_t value) {
        return combined(__reduce_min_sync(kAll, value), [](auto a, auto b) { return std::min(a, b); });
    }
    /// One barrier for both.
    __device__ void extremes(std::uint32_t& least_of, std::uint32_t& most_of) {
        auto& parts = shared<Parts[2][2], struct GroupExtremes>()[half_];
        half_ ^= 1;
        least_of = __reduce_min_sync(kAll, least_of), most_of = __reduce_max_sync(kAll, most_of);
        if (rank() % kLanes == 0) parts[0][rank() / kLanes] = least_of, parts[1][rank() / kLanes] = most_of;
        __syncthreads();
#pragma unroll
        for (int w = 0; w < kWarps; ++w)
            least_of = std::min(least_of, parts[0][w]), most_of = std::max(most_of, parts[1][w]);
    }

    __device__ int before(int value, int& total) {
        const int lane = rank() % kLanes, warp = rank() / kLanes;
        int up_to = value;
#pragma unroll
        for (int stride = 1; stride < kLanes; stride *= 2) {
            const int other = __shfl_up_sync(kAll, up_to, stride);
            if (lane >= stride) up_to += other;
        }
        const auto& parts = exchanged(static_cast<std::uint32_t>(up_to), lane == kLanes - 1);
        int earlier = 0;
        total = 0;
#pragma unroll
        for (int w = 0; w < kWarps; ++w) {
            const int part = static_cast<int>(parts[w]);
            earlier += w < warp ? part : 0, total += part;
        }
        return earlier + up_to - value;
    }

private:
    using Parts = std::uint32_t[kWarps];

    __device__ const Parts& exchanged(std::uint32_t value, bool writes) {
        Parts& parts = shared<Parts[2], struct GroupParts>()[half_];
        half_ ^= 1;
        if (writes) parts[rank() / kLanes] = value;
        __syncthreads();
        return parts;
    }

    template <class T, class Combine>
    __device__ T combined(T value, Combine combine) {
        const Parts& parts = exchanged(static_cast<std::uint32_t>(value), rank() % kLanes == 0);
        T all = static_cast<T>(parts[0]);
#pragma unroll
        for (int w = 1; w < kWarps; ++w) all = combine(all, static_cast<T>(parts[w]));
        return all;
    }

    int half_ = 0;
};

/// Sorts a power of two of entries. A pair that lies up to 32 apart is of the 64 entries that its warp has anyway.
__device__ inline void sort_entries(std::uint64_t* entries, int count) {
    __syncthreads();
    int earlier = 0;
    for (int size = 2; size <= count; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            if (std::max(earlier, stride) > kLanes)
                __syncthreads();
            else
                __syncwarp();
            earlier = stride;
            for (int i = static_cast<int>(threadIdx.x); i < count / 2; i += static_cast<int>(blockDim.x)) {
                const int low = 2 * i - (i & (stride - 1)), high = low + stride;
                const std::uint64_t a = entries[low], b = entries[high];
                if ((a > b) == ((low & size) == 0)) {
                    entries[low] = b;
                    entries[high] = a;
                }
            }
        }
    __syncthreads();
}

/// Stripes of a row as they are looked at: `early` first, then the others as they lie.
template <int columns>
struct Stripes {
    std::uint32_t begin, early;  ///< columns

    static constexpr std::uint32_t kInOrder = std::numeric_limits<std::uint32_t>::max();

    __device__ Stripes(std::uint32_t from, std::uint32_t end) : begin(from), early(kInOrder) {
        if (end - begin > 2 * columns) early = begin + ((end - begin) / columns - 1) * columns;
    }

    __device__ std::uint32_t first() const { return early == kInOrder ? begin : early; }
    __device__ std::uint32_t after(std::uint32_t stripe) const {
        const std::uint32_t next = stripe == early ? begin : stripe + columns;
        return next == early ? next + columns : next;
    }
    /// Looks at no stripe early any more. After what is returned all of them come.
    __device__ std::uint32_t before_all_in_order() {
        early = kInOrder;
        return begin - columns;
    }
};

/// The best of a row so far: `kept` sorted entries, then `added` that are not.
template <class Value>
struct Candidates {
    std::uint64_t* entries;
    int size;
    std::uint32_t early;  ///< elements from this column on may have equal ones before them that are looked at later
    int kept = 0, added = 0;
    std::uint32_t limit = Numbers<Value>::kLastKey;  ///< nothing of a larger key is wanted

    __device__ int count() const { return kept + added; }

    /// k elements of no larger key are found: up to this column, or in the stripe that begins there.
    __device__ void limit_by(std::uint32_t key, std::uint32_t column) {
        if (column < early)
            limit_to(key);
        else
            limit = std::min(limit, key);
    }

    __device__ void limit_to(std::uint32_t before) {
        // Of a list that INT32_MIN fills nothing limits: there is no key before that one's.
        if (std::is_same_v<Value, std::int32_t> && before == 0) return;
        if (before <= Numbers<Value>::kLastKey) limit = std::min(limit, before - 1);
    }

    __device__ void sort(int k) {
        if (added == 0) return;
        int padded = kLanes;
        while (padded < count()) padded *= 2;
        for (int i = count() + static_cast<int>(threadIdx.x); i < padded; i += static_cast<int>(blockDim.x))
            entries[i] = kEmptyEntry;
        sort_entries(entries, padded);
        kept = std::min(count(), k), added = 0;
        if (kept == k) limit_by(key_of_entry(entries[k - 1]), static_cast<std::uint32_t>(entries[k - 1]));
    }
};

/// Room for k entries, what one stripe gives, and what another one does before the next sort.
__host__ __device__ constexpr int capacity_for(int k) { return std::max(k, 64); }
constexpr int entries_for(int k) {
    return static_cast<int>(std::bit_ceil(static_cast<unsigned>(k + 2 * capacity_for(k))));
}

/// A block takes a whole row.
struct WholeRows {
    std::int64_t columns;

    [[nodiscard]] std::int64_t blocks(std::int64_t rows) const { return rows; }
    __device__ std::int64_t row() const { return blockIdx.x; }
    __device__ std::int64_t begin() const { return 0; }
    __device__ std::int64_t end() const { return columns; }
};

/// A block takes one of `count` slices of a row, as long as each other to within a vector and beginning at multiples of
/// one.
template <int together = kVector>
struct Slices {
    std::int64_t columns;  ///< of a row
    std::int64_t count;    ///< of a row

    [[nodiscard]] std::int64_t blocks(std::int64_t rows) const { return rows * count; }
    __device__ std::int64_t row() const { return blockIdx.x / count; }
    __device__ std::int64_t begin() const { return columns * (blockIdx.x % count) / count / together * together; }
    __device__ std::int64_t end() const {
        const std::int64_t next = blockIdx.x % count + 1;
        return next == count ? columns : columns * next / count / together * together;
    }
};

/// What an element's column is called in the output: as it is, or as a list says that is laid out as the matrix is.
struct OwnColumn {
    __device__ std::int32_t operator()(std::int64_t, std::int32_t column) const { return column; }
};
struct ListedColumn {
    const std::int32_t* columns;
    std::int64_t per_row;
    __device__ std::int32_t operator()(std::int64_t row, std::int32_t column) const {
        return column == kNoIndex ? kNoIndex : columns[row * per_row + column];
    }
};

/// A block's list of k goes to values[blockIdx.x * k].
template <int threads, int per_thread, class Part, class T, class Column>
__global__ void __launch_bounds__(threads, blocks_per_sm(threads))
    select_rows(Part part, int k, int size, bool aligned, const T* distances, Column column, T* values,
                std::int32_t* indices) {
    using Value = Compared<T>;
    using Of = Numbers<Value>;
    constexpr int kStripe = threads * per_thread, kParts = 4;
    const int capacity = capacity_for(k), thread = static_cast<int>(threadIdx.x);
    const std::int64_t row = part.row();
    const auto end = static_cast<std::uint32_t>(part.end());
    BlockGroup<threads> group;
    Stripes<kStripe> stripes(static_cast<std::uint32_t>(part.begin()), end);
    Candidates<Value> best{dynamic_shared<std::uint64_t>(), size, stripes.early};
    for (std::uint32_t first = stripes.first(); first < end; first = stripes.after(first)) {
        const int columns = static_cast<int>(std::min<std::uint32_t>(kStripe, end - first));
        Value elements[per_thread];
        load_stripe(group, elements, distances + row * part.columns + first, columns, aligned);
        const bool full = best.limit != Of::kLastKey || best.count() >= k;
        const int within = full ? group.sum(count_within(elements, Of::bound_of(best.limit))) : 0;
        if (within == 0 && full) continue;
        Cut<Value> cut{Of::bound_of(best.limit), within, 0, Of::kNoneKey, best.limit};
        if (within > capacity || !full)
            cut = find_cut<kParts>(group, elements, best.limit, k, std::max(k - best.count(), 0), k / 3 + 2, capacity);
        if (first == best.early && cut.tie_key == Of::kNoneKey && cut.ties > 0) {
            // Fewer than k numbers. What is none is listed in the order of the columns, and so the row is looked at.
            first = stripes.before_all_in_order();
            best.early = stripes.early;
            continue;
        }
        if (best.count() + capacity > size) best.sort(k);
        std::uint64_t* const to = best.entries + best.count();
        const int taken = take<kVectorOf<T>>(group, elements, cut, columns, to);
        __syncthreads();
        for (int j = thread; j < taken; j += threads)
            to[j] = sortable<Value>(to[j] + static_cast<std::uint64_t>(first));
        best.added += taken;
        if (cut.count + (cut.tie_key == Of::kNoneKey ? 0 : cut.ties) >= k) best.limit_by(cut.last, first);
    }
    best.sort(k);
    const std::int64_t list = static_cast<std::int64_t>(blockIdx.x) * k;
    for (int j = thread; j < k; j += threads) {
        const std::uint64_t entry = j < best.kept ? best.entries[j] : kEmptyEntry;
        values[list + j] = to_store<T>(value_as<Value>(key_of_entry(entry)));
        indices[list + j] = column(row, index_of_entry(entry));
    }
}

template <int threads, int per_thread, class Part, class T, class Column>
void launch_select(Stream stream, std::int64_t rows, const Part& part, std::int64_t k, const T* distances,
                   Column column, T* values, std::int32_t* indices) {
    const int size = entries_for(static_cast<int>(k));
    launch(select_rows<threads, per_thread, Part, T, Column>, dim3(static_cast<unsigned>(part.blocks(rows))),
           dim3(static_cast<unsigned>(threads)), static_cast<std::size_t>(size) * sizeof(std::uint64_t), stream, part,
           static_cast<int>(k), size, has_aligned_rows(distances, part.columns), distances, column, values, indices);
}

}  // namespace
}  // namespace espalier::smallest_k
