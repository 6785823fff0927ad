// Few row-major rows of up to 8,192 columns, where the launch and what waits for each other inside a block take longer
// than reading. A block per row, a few elements a thread, and no search by bisection, of which every probe is a
// barrier: the least elements of 128 or 256 parts of the row are ranked instead, each against all others at once. The
// k-th of them is not before the row's k-th, and with two parts or more to each of the k little more than k elements
// come before it. These are ranked in the same way, and an element's rank is its place in the list. One kernel, six
// barriers.
//
// What is ranked is value and column together, so that equal values make no more candidates than others. A part's
// columns lie as far apart as there are parts: neither do sorted rows.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/bitonic_warp.cuh"
#include "variants/smallest_k/key_types.hpp"
#include "variants/smallest_k/order.hpp"
#include "variants/smallest_k/typed_keys.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

constexpr int kMostListed = 128;
constexpr std::int64_t kMostColumns = 8192;
constexpr int kTeam = 4;  ///< neighbouring lanes that rank an entry together

/// How many of `count` entries come before one, for all lanes of a team: each compares with every fourth.
__device__ inline int rank_of(std::uint64_t entry, const std::uint64_t* entries, int count) {
    int before = 0;
    for (int i = static_cast<int>(threadIdx.x) % kTeam; i < count; i += kTeam) before += entries[i] < entry ? 1 : 0;
#pragma unroll
    for (int stride = 1; stride < kTeam; stride *= 2) before += __shfl_xor_sync(kAll, before, stride);
    return before;
}

/// The least entry of each part, of which every thread has seen some: those of the same remainder.
template <int threads, int parts>
__device__ void combine_parts(std::uint64_t (&least)[threads]) {
    __syncthreads();
    if (threadIdx.x < parts) {
        std::uint64_t of_part = least[threadIdx.x];
#pragma unroll
        for (int other = parts; other < threads; other += parts)
            of_part = std::min(of_part, least[threadIdx.x + static_cast<unsigned>(other)]);
        least[threadIdx.x] = of_part;
    }
    __syncthreads();
}

/// The k-th least of the parts' least entries; `bound` stays where fewer parts have an element.
template <int threads, int parts>
__device__ void find_bound(const std::uint64_t (&least)[threads], int k, std::uint64_t& bound) {
    static_assert(parts % (threads / kTeam) == 0);
#pragma unroll
    for (int first = 0; first < parts; first += threads / kTeam) {
        const std::uint64_t entry = least[first + static_cast<int>(threadIdx.x) / kTeam];
        const int rank = rank_of(entry, least, parts);
        if (rank == k - 1 && entry != kEmptyEntry && threadIdx.x % kTeam == 0) bound = entry;
    }
}

template <class T, int threads, int per_thread, int parts>
__global__ void __launch_bounds__(threads)
    rank_row(int columns, int k, const T* keys, T* values, std::int32_t* indices) {
    using Value = Compared<T>;
    auto& least = shared<std::uint64_t[threads], struct Least>();
    auto& bound = shared<std::uint64_t, struct Bound>();
    auto& found = shared<int, struct Found>();
    auto* const candidates = dynamic_shared<std::uint64_t>();  // room for the whole row
    const T* const row = keys + std::int64_t{blockIdx.x} * columns;
    const int thread = static_cast<int>(threadIdx.x), lane = thread % kLanes;

    std::uint64_t entries[per_thread], least_of = kEmptyEntry;
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
        const int column = i * threads + thread;
        entries[i] =
            column < columns ? entry_of(key_of(loaded(row[column])), static_cast<std::uint32_t>(column)) : kEmptyEntry;
        least_of = std::min(least_of, entries[i]);
    }
    least[thread] = least_of;
    if (thread == 0) bound = kEmptyEntry, found = 0;
    combine_parts<threads, parts>(least);
    find_bound<threads, parts>(least, k, bound);
    __syncthreads();

    const std::uint64_t last = bound;
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
        const bool wanted = entries[i] <= last && entries[i] != kEmptyEntry;
        const unsigned all = __ballot_sync(kAll, wanted);
        if (all == 0) continue;
        int first = 0;
        if (lane == 0) first = atomicAdd(&found, __popc(all));
        first = __shfl_sync(kAll, first, 0);
        if (wanted) candidates[first + __popc(all & ((1U << lane) - 1))] = entries[i];
    }
    __syncthreads();

    const int count = found;
    const std::int64_t list = std::int64_t{blockIdx.x} * k;
    const auto store = [&](int place, std::uint64_t entry) {
        values[list + place] = to_store<T>(value_as<Value>(key_of_entry(entry)));
        indices[list + place] = index_of_entry(entry);
    };
    // Whole warps go round: the lanes of a team add up their counts together.
    for (int first = 0; first < count; first += threads / kTeam) {
        const int own = first + thread / kTeam;
        const std::uint64_t entry = own < count ? candidates[own] : kEmptyEntry;
        const int rank = rank_of(entry, candidates, count);
        if (own < count && rank < k && thread % kTeam == 0) store(rank, entry);
    }
    for (int place = count + thread; place < k; place += threads) store(place, kEmptyEntry);
}

template <class T>
struct RankInstance {
    int threads, per_thread, parts;
    void (*kernel)(int, int, const T*, T*, std::int32_t*);
};

template <class T, int threads, int per_thread, int parts>
constexpr RankInstance<T> rank_instance() {
    return {threads, per_thread, parts, rank_row<T, threads, per_thread, parts>};
}

/// By threads; the first that holds the row and has parts enough is taken.
template <class T>
constexpr std::array kRankInstances{
    rank_instance<T, 256, 4, 128>(),  rank_instance<T, 256, 8, 128>(),  rank_instance<T, 256, 16, 128>(),
    rank_instance<T, 256, 32, 128>(), rank_instance<T, 256, 4, 256>(),  rank_instance<T, 256, 8, 256>(),
    rank_instance<T, 256, 16, 256>(), rank_instance<T, 256, 32, 256>(), rank_instance<T, 512, 8, 128>(),
    rank_instance<T, 512, 16, 128>(), rank_instance<T, 512, 8, 256>(),  rank_instance<T, 512, 16, 256>()};

/// Two parts to each of the k.
constexpr int parts_for(std::int64_t k) { return k <= 64 ? 128 : 256; }

template <class T>
const RankInstance<T>& instance_for(const Problem& problem, int threads) {
    return *std::ranges::find_if(kRankInstances<T>, [&](const RankInstance<T>& i) {
        return i.threads == threads && i.parts == parts_for(problem.k) &&
               problem.columns <= std::int64_t{i.threads} * i.per_thread;
    });
}

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (!problem.has_rows()) return Support::no("reads rows: needs layout=row_major");
    if (problem.k > kMostListed) return Support::no("k above 128: each candidate is compared with all others");
    if (problem.columns > kMostColumns)
        return Support::no("more than 8,192 columns: a block's registers hold no longer row");
    if (static_cast<std::size_t>(problem.columns) * 8 + 8192 > device.shared_per_block_optin)
        return Support::no("a row's entries need " + std::to_string(problem.columns * 8 + 8192) +
                           " bytes of shared memory per block, the device has " +
                           std::to_string(device.shared_per_block_optin));
    if (configuration["threads"] == 512 && problem.columns <= 1024)
        return Support::no("no more than 1,024 columns: 256 threads have four elements each");
    if (problem.rows > 2147483647) return Support::no("more than 2,147,483,647 rows exceed the grid");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    with_key_type(problem.keys, [&]<class T>(std::type_identity<T>) {
        const RankInstance<T>& instance = instance_for<T>(problem, configuration["threads"]);
        launch(instance.kernel, dim3(static_cast<unsigned>(problem.rows)),
               dim3(static_cast<unsigned>(instance.threads)), static_cast<std::size_t>(problem.columns) * 8,
               context.stream, static_cast<int>(problem.columns), static_cast<int>(problem.k), keys_of<T>(buffers),
               values_of<T>(buffers), buffers.indices);
    });
}

}  // namespace

Variant<Problem> block_rank_rows() {
    return {.role = Role::modern,
            .summary = "a block per row ranks the minima of parts, then what comes up to the k-th of them: one kernel",
            .limits = "row-major or a single row; 8,192 columns, k <= 128",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"threads", {512, 256}}},
            .optional_features = {"layout", "keys"},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
