// Eight tables per thread, and eight bytes per load, each counted in a table of its own: equal bytes in a row
// no longer wait for one another's increment, and skewed bytes cost what uniform ones do. The tables are of
// 32 bits, so that all eight fit the first-level cache, and are added up before one can overflow. Short data get four:
// tables cost as much to set to zero and to add up as a few hundred bytes to count.
// A core looks no farther ahead than its increments let it, which is too little for data that come from memory: lines
// are asked for 1,024 bytes before they are counted, which nearly halves the time of 64 MiB.

#include <algorithm>
#include <cstring>

#include "kernels/problems/histogram.hpp"

namespace espalier::histogram {
namespace {

constexpr int kWord = 8;                                     ///< bytes
constexpr std::int64_t kShort = 3072;                        ///< fewer bytes get four tables
constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 31;  ///< bytes, fewer than 32 bits count
constexpr std::int64_t kLine = 64, kAhead = 1024;

template <int n>
using Tables = std::uint32_t[n][kBins];

template <int n>
void count_word(const std::uint8_t* bytes, Tables<n>& tables) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    for (int b = 0; b < kWord; ++b) ++tables[b % n][word >> (8 * b) & 0xFF];
}

/// Adds to `bins`.
template <int n>
void count(const std::uint8_t* bytes, std::int64_t size, std::uint64_t* bins) {
    Tables<n> tables = {};
    std::int64_t i = 0;
    for (; i + kLine <= size; i += kLine) {
        __builtin_prefetch(bytes + i + kAhead);
        for (std::int64_t word = 0; word < kLine; word += kWord) count_word<n>(bytes + i + word, tables);
    }
    for (; i + kWord <= size; i += kWord) count_word<n>(bytes + i, tables);
    for (; i < size; ++i) ++tables[0][bytes[i]];
    for (int bin = 0; bin < kBins; ++bin) {
        std::uint32_t sum = 0;
        for (const auto& table : tables) sum += table[bin];
        bins[bin] += sum;
    }
}

void count_range(const std::uint8_t* bytes, std::int64_t begin, std::int64_t end, std::uint64_t* bins) {
    if (end - begin < kShort) return count<4>(bytes + begin, end - begin, bins);
    for (; begin < end; begin += kMostAtOnce) count<8>(bytes + begin, std::min(kMostAtOnce, end - begin), bins);
}

Support supports(const Problem&, const Configuration& configuration, const DeviceInfo& device) {
    if (configuration["parallel"] && device.threads == 1)
        return Support::no("one hardware thread: the same as parallel=0");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    std::fill_n(buffers.counts, kBins, std::uint64_t{0});
    // Even a parallel region of one thread costs as much as counting a kibibyte.
    if (!configuration["parallel"]) return count_range(buffers.bytes, 0, problem.bytes, buffers.counts);
    const int threads = context.device.threads;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int share = 0; share < threads; ++share) {
        std::uint64_t bins[kBins] = {};
        const std::int64_t end =
            problem.bytes / threads * (share + 1) + (share + 1 == threads ? problem.bytes % threads : 0);
        count_range(buffers.bytes, problem.bytes / threads * share, end, bins);
#pragma omp critical(espalier_histogram)
        for (int bin = 0; bin < kBins; ++bin) buffers.counts[bin] += bins[bin];
    }
}

}  // namespace

Variant<Problem> cpu_replicas() {
    return {.role = Role::modern,
            .summary = "eight tables per thread for eight bytes at a time",
            .tolerance = kExact,
            .space = {{"parallel", {1, 0}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::histogram
