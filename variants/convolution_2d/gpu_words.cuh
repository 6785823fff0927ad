#pragma once

// Images read and written as words of four bytes, whatever their width: all but the pixels of gpu_border.cuh.

#include "variants/convolution_2d/gpu_border.cuh"

namespace espalier::convolution_2d {

/// Whether every row of both images begins at a multiple of four bytes.
inline bool rows_of_words(const Problem& problem, const Buffers& buffers) {
    const auto address = reinterpret_cast<std::uintptr_t>(buffers.image) |
                         reinterpret_cast<std::uintptr_t>(buffers.result) |
                         static_cast<std::uintptr_t>(problem.row_values());
    return address % 4 == 0;
}

/// Four bytes of the image from an offset at which its memory is aligned to four. Those outside are 0.
__device__ inline std::uint32_t aligned_word(const Images& images, std::int64_t offset, std::int64_t size) {
    if (offset >= 0 && offset + 4 <= size) return *reinterpret_cast<const std::uint32_t*>(images.source + offset);
    std::uint32_t word = 0;
#pragma unroll 1
    for (int b = 0; b < 4; ++b)
        if (offset + b >= 0 && offset + b < size) word |= std::uint32_t{images.source[offset + b]} << (8 * b);
    return word;
}

/// Four bytes of row y from value `first` on. What lies beside the row is 0 or whatever it is: it only reaches
/// the pixels that correlate_border computes. kWords: rows_of_words.
template <int kChannels, bool kWords>
__device__ std::uint32_t load_word(const Images& images, std::int32_t y, std::int32_t first) {
    if (first <= -4 || first >= images.width * kChannels) return 0;
    const std::int64_t offset = images.offset<kChannels>(y, 0) + first;
    if constexpr (kWords) return *reinterpret_cast<const std::uint32_t*>(images.source + offset);
    const std::int64_t size = images.offset<kChannels>(images.height, 0);
    const unsigned skipped = reinterpret_cast<std::uintptr_t>(images.source + offset) % 4;
    return __funnelshift_r(aligned_word(images, offset - skipped, size),
                           aligned_word(images, offset - skipped + 4, size), 8 * skipped);
}

/// The same of any row: those above and below the image are the border's.
template <int kChannels, bool kWords>
__device__ std::uint32_t load_any_row_word(const Images& images, std::int32_t row, std::int32_t first) {
    const std::int32_t y = border_index(row, images.height, images.border);
    return y < 0 ? 0 : load_word<kChannels, kWords>(images, y, first);
}

/// Stores those of four values that are of no pixel that correlate_border computes.
template <int kChannels, bool kWords>
__device__ void store_inner_word(const Images& images, std::int32_t y, std::int32_t first, std::uint32_t word) {
    constexpr int kEnd = kRadius * kChannels;
    const std::int32_t last = images.width * kChannels - kEnd;
    std::uint8_t* const to = images.result + images.offset<kChannels>(y, 0) + first;
    if (kWords && first >= kEnd && first + 4 <= last) {
        *reinterpret_cast<std::uint32_t*>(to) = word;
        return;
    }
#pragma unroll
    for (int b = 0; b < 4; ++b)
        if (first + b >= kEnd && first + b < last) to[b] = static_cast<std::uint8_t>(word >> (8 * b));
}

}  // namespace espalier::convolution_2d
