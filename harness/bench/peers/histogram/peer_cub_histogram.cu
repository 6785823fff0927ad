// CUB's histogram of even bins over bytes. Counters of 32 bits are its faster ones; they are widened to ours after.

#include <cub/device/device_histogram.cuh>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/histogram.hpp"

namespace espalier::histogram {
namespace {

using namespace device;

template <class Counter>
void count(void* memory, std::size_t& bytes, const Problem& problem, const std::uint8_t* values, Counter* counts,
           Stream stream) {
    check(cub::DeviceHistogram::HistogramEven(memory, bytes, values, counts, kBins + 1, 0, kBins,
                                              static_cast<std::int64_t>(problem.bytes),
                                              static_cast<cudaStream_t>(stream)),
          "CUB's histogram");
}

using Wide = unsigned long long;
using Narrow = unsigned int;
constexpr std::size_t kNarrowBytes = 1024;

__global__ void widen(const Narrow* narrow, std::uint64_t* counts) { counts[threadIdx.x] = narrow[threadIdx.x]; }

Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    if (problem.bytes == 0) return Support::no("it refuses no values");
    if (configuration["counter_bits"] == 32 && problem.bytes >= std::int64_t{1} << 32)
        return Support::no("counters of 32 bits");
    return Support::yes();
}

/// CUB says with a null pointer what it needs. It launches nothing then.
std::size_t workspace(const Problem& problem, const Configuration& configuration, const DeviceInfo&) {
    std::size_t bytes = 0;
    if (configuration["counter_bits"] == 64)
        count<Wide>(nullptr, bytes, problem, nullptr, nullptr, nullptr);
    else
        count<Narrow>(nullptr, bytes, problem, nullptr, nullptr, nullptr);
    return kNarrowBytes + bytes;
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    std::byte* const memory = context.workspace.data() + kNarrowBytes;
    std::size_t bytes = context.workspace.size() - kNarrowBytes;
    if (configuration["counter_bits"] == 64)
        return count(memory, bytes, problem, buffers.bytes, reinterpret_cast<Wide*>(buffers.counts), context.stream);
    auto* const narrow = reinterpret_cast<Narrow*>(context.workspace.data());
    count(memory, bytes, problem, buffers.bytes, narrow, context.stream);
    launch(widen, dim3(1), dim3(kBins), 0, context.stream, narrow, buffers.counts);
}

}  // namespace

Variant<Problem> peer_cub_histogram() {
    return {.role = Role::peer,
            .summary = "cub::DeviceHistogram::HistogramEven over bytes",
            .source = "CCCL " ESPALIER_PEER_CCCL_VERSION,
            .tolerance = kExact,
            .space = {{"counter_bits", {32, 64}}},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::histogram
