// Rows as matrices: 16 windows of 32 bytes, 16 bytes apart, times a 32 x 16 Toeplitz matrix of one row of the
// coefficients (shifted down by one from column to column) are 256 consecutive values' sums over the five
// taps of that row. Tensor cores multiply bytes so fast that the zeros, 27 of 32 numbers, do not matter: what
// remains is reading and writing the image once.
//
// A window row of the first matrix is exactly what a lane loads: of 32 consecutive words the lane's own, and
// those 4, 32 and 36 words on. Every row of the image is loaded once by each warp and goes into five rows
// of the result, whose sums stay in registers; no shared memory, no barrier. The matrix's columns are
// ordered so that a lane ends up with four consecutive bytes of the result.
//
// How many rows a warp computes decides how many warps there are, and how full their last round on the
// multiprocessors is: the image is cut so that the rounds come out even, however large it is. One round is best up to
// images of a hundred million values, where the last warps of a single one take too long.
//
// The two pixels at either end of a row are left to threads of their own: resolving the border where rows are
// loaded made the warps at the edges take 16 us for five rows, and everything wait for them.
//
// Coefficients beyond a byte are split into a signed high and an unsigned low one, whose sums are added
// up at the end: twice the multiplications, and still exact.

#include "device/mma.hpp"
#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_words.cuh"
#include "variants/convolution_2d/limits.hpp"

namespace espalier::convolution_2d {
namespace {

using namespace device;

constexpr int kWarps = 4;
constexpr int kSegment = 256;  ///< values of a row that a warp computes
constexpr int kRim = 8;        ///< bytes by which a window starts before the values computed from it
constexpr int kTiles = 2;      ///< an instruction has 8 columns: 2 for the 16 values of a window
constexpr int kInFlight = kDiameter;
/// Blocks that a multiprocessor holds: what leaves the sums and matrices of each byte of the coefficients in registers.
constexpr int blocks_per_sm(int parts) { return parts == 1 ? 4 : 2; }
constexpr int kEndRows = 32 * kWarps / kBorderPixels;  ///< whose ends a block computes

/// The words of its windows that a lane holds, counted from the first: 0, 32, 4, 36.
constexpr int window_word(int w) { return w % 2 * 32 + w / 2 * 4; }

/// The Toeplitz matrices as instructions take them: words of [part][row of taps][tile][half] of each lane.
template <int kParts>
struct Matrices {
    std::uint32_t words[kParts][kDiameter][kTiles][2][32];
};

/// Byte `part` of a coefficient: the last one with its sign, those below without.
__device__ std::uint32_t byte_of_tap(std::int32_t tap, int part) {
    return static_cast<std::uint32_t>(tap >> (8 * part)) & 0xFFU;
}

template <int kChannels, int kParts>
__device__ void fill_matrices(Matrices<kParts>& matrices, const Taps<std::int32_t>& taps) {
    auto* const words = &matrices.words[0][0][0][0][0];
    for (unsigned index = threadIdx.x; index < sizeof(matrices) / 4; index += 32 * kWarps) {
        const int lane = static_cast<int>(index % 32), half = static_cast<int>(index / 32 % 2);
        const int tile = static_cast<int>(index / 64 % kTiles), row = static_cast<int>(index / 128 % kDiameter);
        const int part = static_cast<int>(index / (128 * kDiameter));
        // Column lane / 4 of a tile is this of the 16 values, so that a lane's sums are neighbours.
        const int value = lane / 8 * 4 + tile * 2 + lane / 4 % 2;
        std::uint32_t word = 0;
        for (int b = 0; b < 4; ++b) {
            const int distance = 16 * half + 4 * (lane % 4) + b - kRim - value + kRadius * kChannels;
            if (distance < 0 || distance > 2 * kRadius * kChannels || distance % kChannels != 0) continue;
            word |= byte_of_tap(taps.values[row * kDiameter + distance / kChannels], part) << (8 * b);
        }
        words[index] = word;
    }
}

/// A lane's sums of one row of the result: of each byte of the coefficients for itself.
template <int kParts>
struct Sums {
    std::int32_t values[kParts][kTiles][4];

    __device__ void clear() {
#pragma unroll
        for (int part = 0; part < kParts; ++part)
#pragma unroll
            for (int tile = 0; tile < kTiles; ++tile)
#pragma unroll
                for (int v = 0; v < 4; ++v) values[part][tile][v] = 0;
    }

    __device__ void add(const std::uint32_t (&windows)[4], const std::uint32_t (&matrix)[kParts][kTiles][2]) {
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
            multiply_u8_s8(values[kParts - 1][tile], windows, matrix[kParts - 1][tile]);
#pragma unroll
            for (int part = 0; part < kParts - 1; ++part)
                multiply_u8_u8(values[part][tile], windows, matrix[part][tile]);
        }
    }

    __device__ std::int32_t total(int tile, int v) const {
        std::int32_t sum = values[kParts - 1][tile][v];
#pragma unroll
        for (int part = kParts - 2; part >= 0; --part) sum = 256 * sum + values[part][tile][v];
        return sum;
    }

    /// Four consecutive values of the result; `half` 1 are those 128 on.
    __device__ std::uint32_t packed(int half) const {
        return pack_saturated(total(0, 2 * half), total(0, 2 * half + 1), total(1, 2 * half), total(1, 2 * half + 1));
    }
};

/// What a lane holds of the windows of a row, the first of which begin kRim bytes before value `first`.
template <int kChannels, bool kWords>
__device__ void load_windows(std::uint32_t (&windows)[4], const Images& images, std::int32_t row, std::int32_t first) {
    const std::int32_t from = first - kRim + 4 * static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int w = 0; w < 4; ++w)
        windows[w] = load_any_row_word<kChannels, kWords>(images, row, from + 4 * window_word(w));
}

template <int kChannels, int kParts, bool kWords>
__global__ void __launch_bounds__(32 * kWarps, blocks_per_sm(kParts))
    correlate(Images images, const __grid_constant__ Taps<std::int32_t> taps, int rows_per_warp) {
    const auto ends = static_cast<unsigned>((images.height + kEndRows - 1) / kEndRows);
    if (blockIdx.x < ends) return correlate_border<kChannels>(images, taps, blockIdx.x, threadIdx.x, 32 * kWarps);
    auto& shared_matrices = shared<Matrices<kParts>>();
    fill_matrices<kChannels>(shared_matrices, taps);
    __syncthreads();

    const unsigned across = (static_cast<unsigned>(images.width * kChannels) + kSegment - 1) / kSegment;
    const unsigned warp = (blockIdx.x - ends) * kWarps + threadIdx.x / 32;
    const auto first = static_cast<std::int32_t>(warp % across * kSegment);
    const std::int64_t first_row = static_cast<std::int64_t>(warp / across) * rows_per_warp;
    if (first_row >= images.height) return;
    const auto y_begin = static_cast<std::int32_t>(first_row);
    const std::int32_t y_end = y_begin + min(rows_per_warp, images.height - y_begin);
    const int lane = static_cast<int>(threadIdx.x % 32);

    std::uint32_t matrices[kDiameter][kParts][kTiles][2];
#pragma unroll
    for (int i = 0; i < kDiameter; ++i)
#pragma unroll
        for (int part = 0; part < kParts; ++part)
#pragma unroll
            for (int half = 0; half < 2 * kTiles; ++half)
                matrices[i][part][half / 2][half % 2] = shared_matrices.words[part][i][half / 2][half % 2][lane];

    Sums<kParts> sums[kInFlight];
    std::uint32_t windows[kInFlight][4] = {}, next[kInFlight][4] = {};
#pragma unroll
    for (int s = 0; s < kInFlight; ++s) sums[s].clear();
    // Five rows of the image a round, so that which sums a row goes to is known when compiling. The next five
    // are on their way meanwhile: the first round only sends for them.
    for (std::int32_t y = y_begin - kRadius - kInFlight; y < y_end + kRadius; y += kInFlight) {
        if (y + kInFlight < y_end + kRadius) {
#pragma unroll
            for (int s = 0; s < kInFlight; ++s)
                load_windows<kChannels, kWords>(next[s], images, y + kInFlight + s, first);
        }
        if (y >= y_begin - kRadius) {
#pragma unroll
            for (int s = 0; s < kInFlight; ++s) {
#pragma unroll
                for (int i = 0; i < kDiameter; ++i) sums[(s - i + kInFlight) % kInFlight].add(windows[s], matrices[i]);
                // This row was the last that the one two rows up waited for.
                auto& done = sums[(s + 1) % kInFlight];
                const std::int32_t row = y + s - kRadius;
                if (row >= y_begin && row < y_end) {
                    store_inner_word<kChannels, kWords>(images, row, first + 4 * lane, done.packed(0));
                    store_inner_word<kChannels, kWords>(images, row, first + 4 * lane + 128, done.packed(1));
                }
                done.clear();
            }
        }
#pragma unroll
        for (int s = 0; s < kInFlight; ++s)
#pragma unroll
            for (int w = 0; w < 4; ++w) windows[s][w] = next[s][w];
    }
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (device.sm < 80)
        return Support::no("needs compute capability 8.0 for byte matrices, this is " + std::to_string(device.sm));
    if (Support support = supports_32_bit_rows(problem); !support) return support;
    if (Support support = supports_32_bit_coordinates(problem); !support) return support;
    return supports_32_bit_sums(problem);
}

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// As few as fill so many rounds of all that the multiprocessors hold. With the four rows above and below it is a
/// multiple of the five that are loaded at once, and more of them than one.
std::int64_t rows_per_warp(const Problem& problem, std::int64_t across, std::int64_t warps_at_once, int rounds) {
    const std::int64_t down = std::max<std::int64_t>(1, warps_at_once * rounds / across);
    const std::int64_t rows = divided_up(problem.height, down);
    return std::max<std::int64_t>(2, divided_up(rows + 2 * kRadius, kInFlight)) * kInFlight - 2 * kRadius;
}

template <int kParts>
void correlate_in(Context& context, const Problem& problem, const Buffers& buffers, int rounds) {
    const std::int64_t across = divided_up(problem.row_values(), kSegment);
    const std::int64_t at_once = std::int64_t{std::max(1, context.device.sm_count)} * blocks_per_sm(kParts) * kWarps;
    const std::int64_t rows = rows_per_warp(problem, across, at_once, rounds);
    const std::int64_t down = divided_up(problem.height, rows);
    const dim3 grid(static_cast<unsigned>(border_blocks(problem, 32 * kWarps) + (across * down + kWarps - 1) / kWarps));
    with_channels(problem.channels, [&](auto channels) {
        const auto kernel = rows_of_words(problem, buffers) ? correlate<channels(), kParts, true>
                                                            : correlate<channels(), kParts, false>;
        launch(kernel, grid, dim3(32 * kWarps), 0, context.stream, Images(problem, buffers),
               Taps<std::int32_t>(*buffers.filter), static_cast<int>(rows));
    });
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.values() == 0) return;
    bool bytes = true;
    for (const float tap : *buffers.filter) bytes = bytes && tap >= -128 && tap <= 127;
    if (bytes)
        correlate_in<1>(context, problem, buffers, configuration["rounds"]);
    else
        correlate_in<2>(context, problem, buffers, configuration["rounds"]);
}

}  // namespace

Variant<Problem> tensor_toeplitz() {
    return {.role = Role::modern,
            .summary = "rows times Toeplitz matrices of the coefficients on tensor cores",
            .limits = "compute capability 8.0; whole coefficients; width x channels <= 2,147,482,624",
            .tolerance = kExact,
            .space = {{"rounds", {1, 4}}},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::convolution_2d
