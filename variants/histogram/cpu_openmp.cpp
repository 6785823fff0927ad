// Every thread counts its share of the bytes into bins of its own, which are added up at the end.
// Source H. Shared bins would make every increment an atomic one, and false sharing besides.

#include <algorithm>

#include "kernels/problems/histogram.hpp"

namespace espalier::histogram {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    std::fill_n(buffers.counts, kBins, std::uint64_t{0});
#pragma omp parallel num_threads(context.device.threads)
    {
        std::uint64_t bins[kBins] = {};
#pragma omp for schedule(static) nowait
        for (std::int64_t i = 0; i < problem.bytes; ++i) ++bins[buffers.bytes[i]];
#pragma omp critical(espalier_histogram)
        for (int bin = 0; bin < kBins; ++bin) buffers.counts[bin] += bins[bin];
    }
}

}  // namespace

Variant<Problem> cpu_openmp() {
    return {.summary = "private bins per thread, added up at the end",
            .source = "H",
            .tolerance = kExact,
            .space = {},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::histogram
