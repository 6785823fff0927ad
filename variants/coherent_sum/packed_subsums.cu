// As global_subsums, but sub-sums are whole numbers of 13 bits, two in a word: that of a time and that of 128 samples
// later, so that any shift in time is one of whole words. One read of shared memory is of eight samples then, and one
// addition of integers adds two sub-sums.
//
// With A the largest magnitude of all samples a sub-sum is rounded to a multiple of A / 1015.75, and nothing else is:
// the totals are exact, whichever sources meet in a block and in whatever order groups are added. An error is at most
// A / 2031.5 for each four receivers, and the roundings of the sub-sums and of the result in single precision.

#include <cfloat>

#include "device/kernel.hpp"
#include "variants/coherent_sum/receiver_fours.cuh"
#include "variants/coherent_sum/row_sums.cuh"
#include "variants/coherent_sum/source_tiles.cuh"
#include "variants/coherent_sum/tolerance.hpp"

namespace espalier::coherent_sum {
namespace {

constexpr int kHalf = 16;  ///< bits
constexpr std::uint32_t kLowHalf = 0xFFFF;
/// What a half keeps of its sum after each chunk. What exceeds it is added to a half of another word.
constexpr int kKeptBits = 8;
constexpr std::uint32_t kKept = 0x00FF00FF;
constexpr int kMostSteps = 4063;  ///< of a sub-sum, of either sign
static_assert(kGroups * 2 * kMostSteps + 0xFF <= static_cast<int>(kLowHalf), "a chunk's sub-sums stay in their half");
constexpr std::int64_t kMostReceivers = 8192;
static_assert(kMostReceivers / kMembers * 2 * kMostSteps >> kKeptBits <= kLowHalf, "and so do all together");

constexpr int kScanThreads = 256, kScanBlocks = 1024;

/// The largest magnitude of any sample, as the bits of a float: those of positive ones are in their order.
__global__ void __launch_bounds__(kScanThreads)
    find_largest(const float* traces, std::int64_t samples, unsigned* largest) {
    unsigned own = 0;
    const std::int64_t step = std::int64_t{gridDim.x} * kScanThreads;
    for (std::int64_t i = std::int64_t{blockIdx.x} * kScanThreads + threadIdx.x; i < samples; i += step)
        own = max(own, __float_as_uint(fabsf(traces[i])));
    own = __reduce_max_sync(kWholeWarp, own);
    if (lane_of(threadIdx.x) == 0) atomicMax(largest, own);
}

/// As a Tile, of words.
struct WordTile {
    static constexpr int kTimes = 4;  ///< words of a lane
    static constexpr int kSamples = 2 * kTimes * kLanes;
    static constexpr int kRowWords = kSamples / 2;
    static constexpr int kPerWarp = 8;  ///< so that sums and what exceeds them are 64 registers
    static constexpr int kWarps = 16;
    static constexpr int kSources = kWarps * kPerWarp;
    static constexpr int kThreads = kWarps * kLanes;
    using Word = std::uint32_t;
    using Sums = Word[kPerWarp][kTimes];
};

/// Makes words of sub-sums, each counted in steps from the least possible one.
class Steps {
public:
    using Word = WordTile::Word;
    static constexpr int kApart = WordTile::kTimes;
    static constexpr std::size_t kBytes = sizeof(unsigned);

    static Steps of(Context& context, const Problem& problem, const float* traces, std::byte* memory) {
        auto* const largest = reinterpret_cast<unsigned*>(memory);
        const std::int64_t samples = problem.receivers * problem.trace_samples();
        fill(largest, 0, kBytes, context.stream);
        const std::int64_t blocks = std::min<std::int64_t>((samples + kScanThreads - 1) / kScanThreads, kScanBlocks);
        if (blocks > 0)
            launch(find_largest, dim3(static_cast<unsigned>(blocks)), dim3(kScanThreads), 0, context.stream, traces,
                   samples, largest);
        return Steps(largest);
    }

    /// Where all samples are below 3e-36 the steps are as small as they can be.
    [[nodiscard]] __device__ Steps loaded() const {
        Steps steps(largest_);
        steps.per_unit_ = fminf(kMostSteps / 4.0F / __uint_as_float(*largest_), FLT_MAX);
        return steps;
    }

    [[nodiscard]] __device__ Word word(float low, float high) const {
        return __byte_perm(counted(low), counted(high), 0x5410);
    }
    [[nodiscard]] __device__ float unit() const { return 1 / per_unit_; }

private:
    explicit __host__ __device__ Steps(const unsigned* largest) : largest_(largest) {}

    /// In the low half: from 2^23 on a float adds but whole numbers.
    [[nodiscard]] __device__ unsigned counted(float sum) const {
        constexpr float kWhole = 8388608;
        return __float_as_uint(__fmaf_rn(sum, per_unit_, kWhole + kMostSteps));
    }

    const unsigned* largest_;
    float per_unit_ = 0;
};

class PackedSums {
public:
    using T = WordTile;
    using Unit = Steps;
    static constexpr int kCopyingWarps = 3;

    __device__ explicit PackedSums(const Steps& steps) : steps_(steps.loaded()) {}

    /// All reads before all additions, which wait for one another otherwise.
    __device__ void add_shifted(const Steps::Word* from, const std::uint16_t* offsets) {
        T::Sums read = {};
        coherent_sum::add_shifted<T>(read, from, offsets);
#pragma unroll
        for (int s = 0; s < T::kPerWarp; ++s)
#pragma unroll
            for (int t = 0; t < T::kTimes; ++t) sums_[s][t] += read[s][t];
    }
    __device__ auto adding() {
        return [this](int source, const auto& sum_of) {
#pragma unroll
            for (int t = 0; t < T::kTimes; ++t) sums_[source][t] += steps_.word(sum_of(t), sum_of(t + T::kTimes));
        };
    }
    __device__ void end_chunk() {
#pragma unroll
        for (int s = 0; s < T::kPerWarp; ++s)
#pragma unroll
            for (int t = 0; t < T::kTimes; ++t) {
                exceeding_[s][t] += sums_[s][t] >> kKeptBits & kKept;
                sums_[s][t] &= kKept;
            }
    }
    __device__ void keep(const Problem& problem, const Buffers& buffers, unsigned long long* peaks,
                         const std::int32_t* order, std::int64_t first_source, std::int64_t first_sample) {
        const auto least = static_cast<std::int32_t>(groups_of(problem) * kMostSteps);
        const float unit = steps_.unit();
        const auto sum_of = [&](std::uint32_t exceeding, std::uint32_t kept) {
            const std::uint32_t steps = ((exceeding & kLowHalf) << kKeptBits) + (kept & kLowHalf);
            return static_cast<float>(static_cast<std::int32_t>(steps) - least) * unit;
        };
        using Whole = Tile<T::kSources, 2 * T::kTimes>;
        Whole::Sums sums;
#pragma unroll
        for (int s = 0; s < T::kPerWarp; ++s)
#pragma unroll
            for (int t = 0; t < T::kTimes; ++t) {
                sums[s][t] = sum_of(exceeding_[s][t], sums_[s][t]);
                sums[s][t + T::kTimes] = sum_of(exceeding_[s][t] >> kHalf, sums_[s][t] >> kHalf);
            }
        keep_ordered<Whole>(sums, problem, buffers, peaks, order, first_source, first_sample);
    }

private:
    Steps steps_;
    T::Sums sums_ = {}, exceeding_ = {};
};

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (problem.precision != SumPrecision::half) return Support::no("rounds to 13 bits: needs precision=half");
    if (problem.receivers > kMostReceivers)
        return Support::no("sums of more than " + std::to_string(kMostReceivers) + " receivers exceed its integers");
    return sums_by_rows<PackedSums>(problem, device);
}

}  // namespace

Variant<Problem> packed_subsums() {
    return {.role = Role::modern,
            .summary = "global_subsums with sub-sums of 13 bits, two in a word",
            .source = "",
            .limits =
                "precision=half; compute capability 9.0; 230 KB of shared memory per block; up to 8,192 receivers; "
                "samples <= 65,535 blocks; up to a 64th of the device's memory for sub-sums",
            .tolerance = kSinglePrecision,
            .supports = supports,
            .workspace = workspace_by_rows<PackedSums>,
            .run = sum_by_rows<PackedSums>};
}

}  // namespace espalier::coherent_sum
