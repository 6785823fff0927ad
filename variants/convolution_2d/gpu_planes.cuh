#pragma once

// Images taken apart into planes, one per channel, in shared memory, so that neighbouring bytes of a word are
// neighbouring pixels, and put together again behind the sums. Common to the variants that compute four neighbouring
// pixels of one plane a lane.
//
// Any width: rows are read as aligned words and shifted into place, always, because a tile begins two pixels before a
// multiple of 128, where no image is aligned. They are written as aligned words too, and bytes at the ends of a warp's
// segment. What the border adds sideways is written into the tile of the blocks at the edges, after the rest.

#include "variants/convolution_2d/gpu_words.cuh"

namespace espalier::convolution_2d {

inline constexpr int kSegmentPixels = 128;  ///< of a row, that a warp computes: four a lane
inline constexpr int kPlaneWords =
    kSegmentPixels / 4 + 1;            ///< of a row of a plane: from two pixels before to two after
inline constexpr int kStagedRows = 4;  ///< of the result, that a warp puts together at once

/// The shared memory of a block of kWarps warps, each of which computes kRows rows of a segment.
template <int kChannels_, int kRows_, int kWarps_>
struct Planes {
    static constexpr int kChannels = kChannels_, kRows = kRows_, kWarps = kWarps_;
    static constexpr int kBlockRows = kWarps * kRows;
    static constexpr int kTileRows = kBlockRows + 2 * kRadius;
    static_assert(kRows % kStagedRows == 0);
    static_assert(kTileRows <= 32 * kWarps, "a thread for the last word of each row");

    alignas(16) std::uint32_t staged[kWarps][kStagedRows][32 * kChannels];
    std::uint32_t tile[kTileRows][kChannels][kPlaneWords];
};

/// Columns of the 4 x 4 bytes whose rows are given, the first in the lowest bits: two permutes a word.
__device__ inline void transpose_bytes(std::uint32_t (&columns)[4], const std::uint32_t (&rows)[4]) {
    const std::uint32_t upper_left = __byte_perm(rows[0], rows[1], 0x5140U);
    const std::uint32_t upper_right = __byte_perm(rows[0], rows[1], 0x7362U);
    const std::uint32_t lower_left = __byte_perm(rows[2], rows[3], 0x5140U);
    const std::uint32_t lower_right = __byte_perm(rows[2], rows[3], 0x7362U);
    columns[0] = __byte_perm(upper_left, lower_left, 0x5410U);
    columns[1] = __byte_perm(upper_left, lower_left, 0x7632U);
    columns[2] = __byte_perm(upper_right, lower_right, 0x5410U);
    columns[3] = __byte_perm(upper_right, lower_right, 0x7632U);
}

/// Four interleaved pixels as a word of each channel.
__device__ inline void take_apart(std::uint32_t (&planes)[1], const std::uint32_t (&words)[1]) { planes[0] = words[0]; }
__device__ inline void take_apart(std::uint32_t (&planes)[3], const std::uint32_t (&words)[3]) {
    planes[0] = __byte_perm(__byte_perm(words[0], words[1], 0x0630U), words[2], 0x5210U);
    planes[1] = __byte_perm(__byte_perm(words[0], words[1], 0x0741U), words[2], 0x6210U);
    planes[2] = __byte_perm(__byte_perm(words[0], words[1], 0x0052U), words[2], 0x7410U);
}
__device__ inline void take_apart(std::uint32_t (&planes)[4], const std::uint32_t (&words)[4]) {
    transpose_bytes(planes, words);
}

/// How __byte_perm puts a channel's four pixels where they belong in word `word` of four interleaved ones.
template <int kChannels>
constexpr std::uint32_t insertion(int channel, int word) {
    std::uint32_t selector = 0;
    for (int b = 0; b < 4; ++b) {
        const int value = 4 * word + b;
        const int chosen = value % kChannels == channel ? 4 + value / kChannels : b;
        selector |= static_cast<std::uint32_t>(chosen) << (4 * b);
    }
    return selector;
}

/// The aligned words that hold four pixels which may begin anywhere.
template <int kChannels>
struct Unaligned {
    std::uint32_t words[kChannels + 1] = {};

    __device__ void load(const std::uint8_t* aligned) {
#pragma unroll
        for (int w = 0; w <= kChannels; ++w) words[w] = reinterpret_cast<const std::uint32_t*>(aligned)[w];
    }

    /// `skipped`: bytes of the first word before the pixels.
    __device__ void store_planes(std::uint32_t (&row)[kChannels][kPlaneWords], int column, unsigned skipped) const {
        std::uint32_t shifted[kChannels], planes[kChannels];
#pragma unroll
        for (int w = 0; w < kChannels; ++w) shifted[w] = __funnelshift_r(words[w], words[w + 1], 8 * skipped);
        take_apart(planes, shifted);
#pragma unroll
        for (int c = 0; c < kChannels; ++c) row[c][column] = planes[c];
    }
};

/// Bytes since the last multiple of four.
__device__ inline unsigned past_word(const std::uint8_t* address) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(address) % 4);
}

/// The tile of a block all of whose words lie within the image's memory, whatever row they belong to.
template <class P>
__device__ void load_planes_inside(P& shared, const Images& images, const Corner& corner) {
    constexpr int kChannels = P::kChannels, kInFlight = 9;
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
    const int thread = 32 * warp + lane;
    const std::int64_t row_bytes = images.offset<kChannels>(1, 0);
    const std::uint8_t* const first =
        images.source + images.offset<kChannels>(corner.y - kRadius, corner.x) - kRadius * kChannels;
    const std::uint8_t* const first_last = first + thread * row_bytes + kSegmentPixels * kChannels;
    Unaligned<kChannels> last;
    if (thread < P::kTileRows) last.load(first_last - past_word(first_last));
    // Which of a warp's rows there are is known when compiling, but for the last of them.
    constexpr int kSteps = (P::kTileRows + P::kWarps - 1) / P::kWarps;
    const auto exists = [warp](int step) {
        return step < kSteps && ((step + 1) * P::kWarps <= P::kTileRows || step * P::kWarps + warp < P::kTileRows);
    };
    // A warp's rows lie a multiple of four rows apart, so that they all begin as far from a word.
    static_assert(P::kWarps % 4 == 0);
    const std::int64_t step_bytes = P::kWarps * row_bytes;
    const std::uint8_t* next = first + warp * row_bytes + 4 * kChannels * lane;
    const unsigned skipped = past_word(next);
    next -= skipped;
#pragma unroll
    for (int from = 0; from < kSteps; from += kInFlight) {
        Unaligned<kChannels> pixels[kInFlight];
#pragma unroll
        for (int k = 0; k < kInFlight; ++k, next += step_bytes)
            if (exists(from + k)) pixels[k].load(next);
#pragma unroll
        for (int k = 0; k < kInFlight; ++k)
            if (exists(from + k)) pixels[k].store_planes(shared.tile[(from + k) * P::kWarps + warp], lane, skipped);
    }
    if (thread < P::kTileRows) last.store_planes(shared.tile[thread], kPlaneWords - 1, past_word(first_last));
}

/// The tile of any block: rows above and below are the border's, and what lies beside a row is 0 or whatever it is.
template <class P>
__device__ void load_planes_anywhere(P& shared, const Images& images, const Corner& corner) {
    constexpr int kChannels = P::kChannels;
    const int thread = 32 * static_cast<int>(threadIdx.y) + static_cast<int>(threadIdx.x);
#pragma unroll 1
    for (int index = thread; index < P::kTileRows * kPlaneWords; index += 32 * P::kWarps) {
        const int row = index / kPlaneWords, column = index % kPlaneWords;
        const std::int32_t y = corner.y - kRadius + row;
        const std::int32_t value = (corner.x - kRadius + 4 * column) * kChannels;
        std::uint32_t words[kChannels] = {}, planes[kChannels];
        if (y < images.height + kRadius) {
#pragma unroll
            for (int w = 0; w < kChannels; ++w)
                words[w] = load_any_row_word<kChannels, false>(images, y, value + 4 * w);
        }
        take_apart(planes, words);
#pragma unroll
        for (int c = 0; c < kChannels; ++c) shared.tile[row][c][column] = planes[c];
    }
}

/// Writes the two pixels before and behind the image's rows into the tile, as the border has them.
template <class P>
__device__ void load_sides(P& shared, const Images& images, const Corner& corner) {
    constexpr int kChannels = P::kChannels, kSides = 2 * kRadius;
    const int thread = 32 * static_cast<int>(threadIdx.y) + static_cast<int>(threadIdx.x);
#pragma unroll 1
    for (int index = thread; index < P::kTileRows * kSides * kChannels; index += 32 * P::kWarps) {
        const int channel = index % kChannels, side = index / kChannels % kSides, row = index / kChannels / kSides;
        const std::int32_t x = side < kRadius ? side - kRadius : images.width + side - kRadius;
        const std::int32_t column = x - (corner.x - kRadius);
        if (column < 0 || column >= 4 * kPlaneWords) continue;
        const std::int32_t from_x = border_index(x, images.width, images.border);
        const std::int32_t y = border_index(corner.y - kRadius + row, images.height, images.border);
        const bool zero = from_x < 0 || y < 0;
        reinterpret_cast<std::uint8_t*>(shared.tile[row][channel])[column] =
            zero ? std::uint8_t{0} : images.source[images.offset<kChannels>(y, from_x) + channel];
    }
}

/// Fills the tile around `corner`. A barrier follows.
template <class P>
__device__ void load_planes(P& shared, const Images& images, const Corner& corner) {
    constexpr int kChannels = P::kChannels, kWord = 4;
    const std::int64_t first = images.offset<kChannels>(corner.y - kRadius, corner.x) - kRadius * kChannels;
    const std::int64_t last = images.offset<kChannels>(corner.y - kRadius + P::kTileRows - 1, corner.x) +
                              (kSegmentPixels + kRadius) * kChannels;
    const bool inside = corner.y >= kRadius && corner.y - kRadius + P::kTileRows <= images.height && first >= kWord &&
                        last + kWord <= images.offset<kChannels>(images.height, 0);
    if (inside)
        load_planes_inside(shared, images, corner);
    else
        load_planes_anywhere(shared, images, corner);
    __syncthreads();
    if (corner.x > 0 && corner.x + kSegmentPixels + kRadius <= images.width) return;
    load_sides(shared, images, corner);
    __syncthreads();
}

/// Writes a segment's bytes, that lie in `staged`, to where no word begins: a warp together, aligned words but for the
/// ends.
template <int kChannels>
__device__ void store_unaligned(std::uint8_t* to, const std::uint32_t (&staged)[32 * kChannels]) {
    const int lane = static_cast<int>(threadIdx.x);
    const unsigned before = past_word(to);
    auto* const words = reinterpret_cast<std::uint32_t*>(to - before) + lane;
#pragma unroll
    for (int w = 0; w < kChannels; ++w)
        if (w > 0 || lane > 0)
            words[32 * w] = __funnelshift_l(staged[lane + 32 * w - 1], staged[lane + 32 * w], 8 * before);
    // Four bytes are left: those up to the first whole word, and those behind the last.
    if (lane >= 4) return;
    const int byte = lane + static_cast<int>(before) < 4 ? lane : kSegmentPixels * kChannels - 4 + lane;
    to[byte] = reinterpret_cast<const std::uint8_t*>(staged)[byte];
}

/// Puts a lane's rows, of four interleaved pixels each, into the result: a warp together.
template <class P>
__device__ void store_rows(P& shared, const Images& images, std::int32_t x, std::int32_t y,
                           const std::uint32_t (&rows)[P::kRows][P::kChannels]) {
    constexpr int kChannels = P::kChannels;
    const int lane = static_cast<int>(threadIdx.x);
    auto& staged = shared.staged[threadIdx.y];
    std::uint8_t* const to = images.result + images.offset<kChannels>(y, x);
    const std::int64_t row_bytes = images.offset<kChannels>(1, 0);
    const bool whole = x + kSegmentPixels <= images.width && y + P::kRows <= images.height;
    const bool words = past_word(to) == 0 && row_bytes % 4 == 0;
    std::uint8_t* next = to + 4 * lane;  // where the rows are words
#pragma unroll
    for (int from = 0; from < P::kRows; from += kStagedRows) {
        __syncwarp();
#pragma unroll
        for (int r = 0; r < kStagedRows; ++r) {
            const auto& row = rows[from + r];
            if constexpr (kChannels == 4) {
                reinterpret_cast<uint4*>(staged[r])[lane] = make_uint4(row[0], row[1], row[2], row[3]);
            } else {
#pragma unroll
                for (int w = 0; w < kChannels; ++w) staged[r][kChannels * lane + w] = row[w];
            }
        }
        __syncwarp();
        if (whole && words) {
#pragma unroll
            for (int r = 0; r < kStagedRows; ++r, next += row_bytes)
#pragma unroll
                for (int w = 0; w < kChannels; ++w)
                    reinterpret_cast<std::uint32_t*>(next)[32 * w] = staged[r][lane + 32 * w];
            continue;
        }
        if (whole) {
#pragma unroll
            for (int r = 0; r < kStagedRows; ++r) {
                std::uint8_t* const row = to + (from + r) * row_bytes;
                if (past_word(row) == 0)
#pragma unroll
                    for (int w = 0; w < kChannels; ++w)
                        reinterpret_cast<std::uint32_t*>(row)[lane + 32 * w] = staged[r][lane + 32 * w];
                else
                    store_unaligned<kChannels>(row, staged[r]);
            }
            continue;
        }
        const int bytes = min(kSegmentPixels, images.width - x) * kChannels;
#pragma unroll 1
        for (int r = 0; r < min(kStagedRows, images.height - y - from); ++r)
            for (int byte = lane; byte < bytes; byte += 32)
                to[(from + r) * row_bytes + byte] = reinterpret_cast<const std::uint8_t*>(staged[r])[byte];
    }
}

/// What a block does. `correlate(quads, row, stride)` gives kRows words of four neighbouring pixels of a plane, from
/// the words of a tile's rows: row[0] and row[1] of the first, `stride` words on those of the next, hold the eight
/// pixels from two before to two after them.
template <class P, class Correlate>
__device__ void correlate_planes(const Images& images, const Correlate& correlate) {
    constexpr int kChannels = P::kChannels, kRows = P::kRows;
    P& shared = *device::dynamic_shared<P>();
    const Corner corner = block_corner(blockIdx.x, images.width, kSegmentPixels, P::kBlockRows);
    load_planes(shared, images, corner);
    const int lane = static_cast<int>(threadIdx.x), warp = static_cast<int>(threadIdx.y);
    const std::int32_t y = corner.y + warp * kRows;
    if (y >= images.height) return;

    std::uint32_t rows[kRows][kChannels] = {};
    // The code of all planes at once would not fit the instruction caches.
#pragma unroll 1
    for (int channel = 0; channel < kChannels; ++channel) {
        std::uint32_t quads[kRows];
        correlate(quads, &shared.tile[warp * kRows][channel][lane], kChannels * kPlaneWords);
#pragma unroll
        for (int w = 0; w < kChannels; ++w) {
            std::uint32_t selector = insertion<kChannels>(0, w);
#pragma unroll
            for (int c = 1; c < kChannels; ++c)
                if (channel == c) selector = insertion<kChannels>(c, w);
#pragma unroll
            for (int r = 0; r < kRows; ++r) rows[r][w] = __byte_perm(rows[r][w], quads[r], selector);
        }
    }
    store_rows(shared, images, corner.x, y, rows);
}

/// Calls `launch` with the Planes of the problem's channels and the configuration's `warps`, 4 or 8.
template <int kRows, class Launch>
void with_planes(const Problem& problem, int warps, Launch&& launch) {
    with_channels(problem.channels, [&](auto channels) {
        if (warps == 4) return launch.template operator()<Planes<channels(), kRows, 4>>();
        return launch.template operator()<Planes<channels(), kRows, 8>>();
    });
}

}  // namespace espalier::convolution_2d
