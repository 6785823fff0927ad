// As source_tiles, but four neighbouring receivers are added with one read of shared memory. What a source takes from
// them, apart from one shift in time, is given by the three differences between its delays to them, and sources that
// are near each other have few different ones: 93 of 27,000 sources of a cube 50 m apart, receivers 40 m apart, and 17
// of 208 neighbours. The sums of the four traces are computed once for each vector of differences, for all sources and
// times of a window, in device memory (row_sums.cuh).
//
// Whether a source has them from there or adds the traces itself, the order of additions is ((a + b) + (c + d)) for
// each four and these in order, so that it is no matter which sources meet in a block: receivers / 4 + 2 roundings at
// most on each term's way into the sum, where the plain loop has receivers - 1. With u = 2^-24 and S the sum of
// absolute values the error is below (receivers / 4 + 2) u S, to first order, and the result differs from the plain
// loop's by at most (5 / 4 receivers + 1) u S. The tolerance asks for 64 u S, as of all variants, which counts on
// roundings of either sign.

#include "device/kernel.hpp"
#include "variants/coherent_sum/receiver_fours.cuh"
#include "variants/coherent_sum/row_sums.cuh"
#include "variants/coherent_sum/source_tiles.cuh"
#include "variants/coherent_sum/tolerance.hpp"
#include "variants/coherent_sum/vector_rows.cuh"

namespace espalier::coherent_sum {
namespace {

/// Sums in single precision. With two times of a lane those of 32 sources spill.
class SingleSums {
public:
    using T = Tile<256, 4>;
    static constexpr int kCopyingWarps = 3;

    /// A word is a sub-sum.
    struct Unit {
        using Word = float;
        static constexpr int kApart = 0;
        static constexpr std::size_t kBytes = 0;
        static Unit of(Context&, const Problem&, const float*, std::byte*) { return {}; }
        [[nodiscard]] __device__ Unit loaded() const { return {}; }
        [[nodiscard]] __device__ static float word(float sum, float) { return sum; }
    };

    __device__ explicit SingleSums(const Unit&) {}
    __device__ void end_chunk() {}
    __device__ void add_shifted(const float* from, const std::uint16_t* offsets) {
        coherent_sum::add_shifted<T>(sums_, from, offsets);
    }
    __device__ auto adding() { return adding_to<T>(sums_); }
    __device__ void keep(const Problem& problem, const Buffers& buffers, unsigned long long* peaks,
                         const std::int32_t* order, std::int64_t first_source, std::int64_t first_sample) {
        keep_ordered<T>(sums_, problem, buffers, peaks, order, first_source, first_sample);
    }

private:
    T::Sums sums_ = {};
};

}  // namespace

Variant<Problem> global_subsums() {
    return {.role = Role::modern,
            .summary = "source_tiles with the sums of four receivers computed once for all sources that share them",
            .source = "",
            .limits =
                "compute capability 9.0; 230 KB of shared memory per block; samples <= 65,535 blocks; up to a 64th "
                "of the device's memory for sub-sums",
            .tolerance = kSinglePrecision,
            .supports = [](const Problem& problem, const Configuration&,
                           const DeviceInfo& device) { return sums_by_rows<SingleSums>(problem, device); },
            .workspace = workspace_by_rows<SingleSums>,
            .run = sum_by_rows<SingleSums>};
}

}  // namespace espalier::coherent_sum
