// Eight tables per thread, and eight bytes per load, each counted in a table of its own: equal bytes in a row
// no longer wait for one another's increment, and skewed bytes cost what uniform ones do. The tables are of
// 32 bits, so that all eight fit the first-level cache, and are added up before one can overflow.

#include <algorithm>
#include <cstring>

#include "variants/histogram/problem.hpp"

namespace espalier::histogram {
namespace {

constexpr int kTables = 8;
constexpr std::int64_t kMostAtOnce = std::int64_t{1} << 31;  ///< bytes, fewer than 32 bits count

void count(const std::uint8_t* bytes, std::int64_t size, std::uint64_t (&bins)[kBins]) {
    std::uint32_t tables[kTables][kBins] = {};
    std::int64_t i = 0;
    for (; i + kTables <= size; i += kTables) {
        std::uint64_t word;
        std::memcpy(&word, bytes + i, sizeof word);
        for (int t = 0; t < kTables; ++t) ++tables[t][word >> (8 * t) & 0xFF];
    }
    for (; i < size; ++i) ++tables[0][bytes[i]];
    for (const auto& table : tables)
        for (int bin = 0; bin < kBins; ++bin) bins[bin] += table[bin];
}

Support supports(const Problem&, const Configuration& configuration, const DeviceInfo& device) {
    if (configuration["parallel"] && device.threads == 1)
        return Support::no("one hardware thread: the same as parallel=0");
    return Support::yes();
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    std::fill_n(buffers.counts, kBins, std::uint64_t{0});
    const int threads = configuration["parallel"] ? context.device.threads : 1;
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int share = 0; share < threads; ++share) {
        std::uint64_t bins[kBins] = {};
        const std::int64_t end =
            problem.bytes / threads * (share + 1) + (share + 1 == threads ? problem.bytes % threads : 0);
        for (std::int64_t begin = problem.bytes / threads * share; begin < end; begin += kMostAtOnce)
            count(buffers.bytes + begin, std::min(kMostAtOnce, end - begin), bins);
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
