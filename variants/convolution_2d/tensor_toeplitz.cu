// Rows as matrices: 16 windows of 32 bytes, 16 bytes apart, times a 32 x 16 Toeplitz matrix of one row of the
// coefficients (shifted down by one from column to column) are 256 consecutive values' sums over the five
// taps of that row. Tensor cores multiply bytes so fast that the zeros, 27 of 32 numbers, do not matter: what
// remains is reading and writing the image once.
//
// A window row of the first matrix is exactly what a lane loads: of 32 consecutive words the lane's own, and
// those 4, 32 and 36 words on. Every row of the image is loaded once by each warp and goes into five rows
// of the result, whose sums stay in registers; no barrier among the rows. The matrix's columns are
// ordered so that a lane ends up with four consecutive bytes of the result. As soon as a row is used up, the one five
// rows on is sent for in its place, so that loads leave evenly and take no more registers than five rows.
//
// Which rows a warp reads without looking, it works out once: those all of whose words lie within the image's memory,
// whatever row they belong to. The others, at the image's corners and beyond it, ask the border.
//
// How many rows a warp computes decides how many warps there are, and how full their last round on the
// multiprocessors is: the image is cut so that the rounds come out even, however large it is. One round is best up to
// images of a hundred million values, where the last warps of a single one take too long.
//
// The two pixels at either end of a row are computed beforehand, by all blocks alike (gpu_ends.cuh). Blocks of their
// own would hold places in the only round that the others then wait for.
//
// Coefficients beyond a byte are split into a signed high and an unsigned low one, whose sums are added
// up at the end: twice the multiplications, and still exact.

#include "device/mma.hpp"
#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/gpu_ends.cuh"
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
constexpr unsigned kAllLanes = 0xFFFFFFFFU;
/// Blocks that a multiprocessor holds: what leaves the sums and matrices of each byte of the coefficients in registers.
/// Unaligned rows have twice as many words on their way.
constexpr int blocks_per_sm(int parts, bool words) { return (words ? 5 : 4) - parts; }

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

/// What a lane holds of the windows of a row, as loaded: where rows are not aligned, each word is shifted out of two.
template <bool kWords>
struct Windows {
    static constexpr int kParts = kWords ? 1 : 2;
    std::uint32_t words[4][kParts] = {};

    __device__ void load(const std::uint8_t* aligned) {
#pragma unroll
        for (int w = 0; w < 4; ++w)
#pragma unroll
            for (int p = 0; p < kParts; ++p)
                words[w][p] = reinterpret_cast<const std::uint32_t*>(aligned)[window_word(w) + p];
    }

    /// `skipped`: bytes of the first word before the windows.
    __device__ void shift(std::uint32_t (&windows)[4], unsigned skipped) const {
#pragma unroll
        for (int w = 0; w < 4; ++w)
            windows[w] = kWords ? words[w][0] : __funnelshift_r(words[w][0], words[w][kParts - 1], 8 * skipped);
    }

    /// What `shift` makes `word` of.
    __device__ void set(int w, std::uint32_t word, unsigned skipped) {
        words[w][kParts - 1] = __funnelshift_l(word, 0, 8 * skipped);
        words[w][0] = kWords ? word : __funnelshift_l(0, word, 8 * skipped);
    }
};

/// The values of each row that a warp computes, from `first` on, and a lane's part in them.
template <int kChannels, bool kWords>
struct Strip {
    std::int32_t first, row_bytes;
    std::int32_t inside_begin, inside_rows;  ///< rows whose windows lie within the image's memory
    bool inner;                              ///< all values are of pixels that have none of their taps beside the row
    const std::uint8_t* source;              ///< the lane's first word, if this were row 0
    std::uint8_t* result;                    ///< the lane's first four values of row 0

    __device__ Strip(const Images& images, std::int32_t first_, int lane)
        : first(first_),
          row_bytes(images.width * kChannels),
          inner(first_ >= kRadius * kChannels && first_ + kSegment <= row_bytes - kRadius * kChannels),
          source(images.source + (first_ - kRim + 4 * lane)),
          result(images.result + (first_ + 4 * lane)) {
        // A word more at either end: an address is rounded down, and of unaligned rows the next word is read as well.
        constexpr int kBefore = kRim + 4, kPast = 4 * (window_word(3) + 32) - kRim + 4;
        inside_begin = first_ >= kBefore ? 0 : (kBefore - first_ + row_bytes - 1) / row_bytes;
        const auto past = static_cast<unsigned>(first_ + kPast), bytes = static_cast<unsigned>(row_bytes);
        inside_rows = images.height + 1 - static_cast<std::int32_t>((past + bytes - 1) / bytes) - inside_begin;
    }

    __device__ unsigned skipped(std::int32_t y) const {
        return kWords ? 0
                      : static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(source) +
                                              static_cast<unsigned>(y) * static_cast<unsigned>(row_bytes)) %
                            4;
    }

    /// The windows of any row from two above the image to two below it.
    __device__ void load(Windows<kWords>& windows, const Images& images, std::int32_t row) const {
        if (row >= inside_begin && row - inside_begin < inside_rows)
            return windows.load(source + static_cast<std::int64_t>(row) * row_bytes - skipped(row));
        const std::int32_t y = near_border_index(row, images.height, images.border);
        const std::int32_t from = first - kRim + 4 * static_cast<int>(threadIdx.x % 32);
#pragma unroll
        for (int w = 0; w < 4; ++w)
            windows.set(w, y < 0 ? 0 : load_word<kChannels, kWords>(images, y, from + 4 * window_word(w)),
                        skipped(row));
    }

    /// Stores a row of the result, of which a lane has the words `near` and, 128 bytes on, `far`.
    __device__ void store(const Images& images, std::int32_t row, std::uint32_t near, std::uint32_t far) const {
        std::uint8_t* const to = result + static_cast<std::int64_t>(row) * row_bytes;
        if (inner && kWords) {
            reinterpret_cast<std::uint32_t*>(to)[0] = near;
            reinterpret_cast<std::uint32_t*>(to)[32] = far;
        } else if (inner) {
            store_shifted(to, near, far);
        } else {
            const std::int32_t value = first + 4 * static_cast<int>(threadIdx.x % 32);
            store_inner_word<kChannels, kWords>(images, row, value, near);
            store_inner_word<kChannels, kWords>(images, row, value + 128, far);
        }
    }

    /// The same where no word begins: aligned words, each out of two, but for four bytes at the ends.
    __device__ static void store_shifted(std::uint8_t* to, std::uint32_t near, std::uint32_t far) {
        const int lane = static_cast<int>(threadIdx.x % 32);
        const auto before = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(to) % 4);
        const std::uint32_t near_left = __shfl_sync(kAllLanes, near, (lane + 31) % 32);
        const std::uint32_t far_left = __shfl_sync(kAllLanes, far, (lane + 31) % 32);
        const std::uint32_t begin = __shfl_sync(kAllLanes, near, 0), end = __shfl_sync(kAllLanes, far, 31);
        auto* const words = reinterpret_cast<std::uint32_t*>(to - before);
        if (lane > 0) words[0] = __funnelshift_l(near_left, near, 8 * before);
        words[32] = __funnelshift_l(lane > 0 ? far_left : near_left, far, 8 * before);
        if (lane >= 4) return;
        // Those up to the first whole word, and those behind the last.
        const bool at_begin = lane + static_cast<int>(before) < 4;
        std::uint8_t* const byte = to - 4 * lane + lane + (at_begin ? 0 : kSegment - 4);
        *byte = static_cast<std::uint8_t>((at_begin ? begin : end) >> (8 * lane));
    }
};

template <int kChannels, int kParts>
struct Shared {
    Matrices<kParts> matrices;
    EndTile<kChannels> ends;
};

/// Fills the matrices and computes a block's share of the rows' ends.
template <int kChannels, int kParts>
__device__ void begin_block(Shared<kChannels, kParts>& shared, const Images& images, const Taps<std::int32_t>& taps) {
    const auto chunks = static_cast<unsigned>((images.height + kEndRows - 1) / kEndRows);
#pragma unroll 1
    for (unsigned chunk = blockIdx.x;; chunk += gridDim.x) {
        const auto y = static_cast<std::int32_t>(chunk) * kEndRows;
        if (chunk < chunks) load_ends<kChannels, 32 * kWarps>(shared.ends, images, y);
        if (chunk == blockIdx.x) fill_matrices<kChannels>(shared.matrices, taps);
        __syncthreads();
        if (chunk < chunks) correlate_ends(shared.ends, images, taps, y);
        if (static_cast<std::int64_t>(chunk) + gridDim.x >= chunks) break;
        __syncthreads();
    }
}

template <int kChannels, int kParts, bool kWords>
__global__ void __launch_bounds__(32 * kWarps, blocks_per_sm(kParts, kWords))
    correlate(Images images, const __grid_constant__ Taps<std::int32_t> taps, int rows_per_warp) {
    auto& shared_here = shared<Shared<kChannels, kParts>>();
    begin_block(shared_here, images, taps);

    const unsigned across = (static_cast<unsigned>(images.width * kChannels) + kSegment - 1) / kSegment;
    const unsigned warp = blockIdx.x * kWarps + threadIdx.x / 32;
    const std::int64_t first_row = static_cast<std::int64_t>(warp / across) * rows_per_warp;
    if (first_row >= images.height) return;
    const auto y_begin = static_cast<std::int32_t>(first_row);
    const std::int32_t y_end = y_begin + min(rows_per_warp, images.height - y_begin);
    const int lane = static_cast<int>(threadIdx.x % 32);
    const Strip<kChannels, kWords> strip(images, static_cast<std::int32_t>(warp % across * kSegment), lane);

    std::uint32_t matrices[kDiameter][kParts][kTiles][2];
#pragma unroll
    for (int i = 0; i < kDiameter; ++i)
#pragma unroll
        for (int part = 0; part < kParts; ++part)
#pragma unroll
            for (int half = 0; half < 2 * kTiles; ++half)
                matrices[i][part][half / 2][half % 2] = shared_here.matrices.words[part][i][half / 2][half % 2][lane];

    Sums<kParts> sums[kInFlight];
    Windows<kWords> windows[kInFlight];
#pragma unroll
    for (int s = 0; s < kInFlight; ++s) sums[s].clear();
#pragma unroll
    for (int s = 0; s < kInFlight; ++s)
        if (y_begin - kRadius + s < y_end + kRadius) strip.load(windows[s], images, y_begin - kRadius + s);
            // Five rows of the image a round, so that which sums a row goes to is known when compiling.
#pragma unroll 1
    for (std::int32_t y = y_begin - kRadius; y < y_end + kRadius; y += kInFlight) {
#pragma unroll
        for (int s = 0; s < kInFlight; ++s) {
            std::uint32_t window[4];
            windows[s].shift(window, strip.skipped(y + s));
#pragma unroll
            for (int i = kDiameter - 1; i >= 0; --i) sums[(s - i + kInFlight) % kInFlight].add(window, matrices[i]);
            if (y + kInFlight + s < y_end + kRadius) strip.load(windows[s], images, y + kInFlight + s);
            // This row was the last that the one two rows up waited for.
            auto& done = sums[(s + 1) % kInFlight];
            const std::int32_t row = y + s - kRadius;
            if (row >= y_begin && row < y_end) strip.store(images, row, done.packed(0), done.packed(1));
            done.clear();
        }
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
    const bool words = rows_of_words(problem, buffers);
    const std::int64_t at_once =
        std::int64_t{std::max(1, context.device.sm_count)} * blocks_per_sm(kParts, words) * kWarps;
    const std::int64_t rows = rows_per_warp(problem, across, at_once, rounds);
    const std::int64_t down = divided_up(problem.height, rows);
    const dim3 grid(static_cast<unsigned>((across * down + kWarps - 1) / kWarps));
    with_channels(problem.channels, [&](auto channels) {
        const auto kernel = words ? correlate<channels(), kParts, true> : correlate<channels(), kParts, false>;
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
