#pragma once

// Images read as words of four bytes, whatever their width and border.

#include "variants/convolution_2d/gpu_image.cuh"

namespace espalier::convolution_2d {

/// Whether every row of both images begins at a multiple of four bytes.
inline bool rows_of_words(const Problem& problem, const Buffers& buffers) {
    const auto address = reinterpret_cast<std::uintptr_t>(buffers.image) |
                         reinterpret_cast<std::uintptr_t>(buffers.result) |
                         static_cast<std::uintptr_t>(problem.row_values());
    return address % 4 == 0;
}

/// Four bytes of row y from value `first` on, wherever they lie. Not unrolled: it is rare, and what it needs
/// of registers would be missing from the rest.
template <int kChannels>
__device__ std::uint32_t gather_word(const Images& images, std::int32_t y, std::int32_t first) {
    constexpr int kShift = 12;  // a multiple of every number of channels that makes the dividend positive
    std::uint32_t word = 0;
#pragma unroll 1
    for (int b = 0; b < 4; ++b) {
        const std::int32_t value = first + b + kShift;
        const std::int32_t x = border_index(value / kChannels - kShift / kChannels, images.width, images.border);
        if (x < 0) continue;
        word |= std::uint32_t{images.source[images.offset<kChannels>(y, x) + value % kChannels]} << (8 * b);
    }
    return word;
}

/// Four bytes of any row from value `first` (at least -12) on. kWords: rows_of_words.
template <int kChannels, bool kWords>
__device__ std::uint32_t load_word(const Images& images, std::int32_t row, std::int32_t first) {
    const std::int32_t y = border_index(row, images.height, images.border);
    if (y < 0) return 0;
    const std::int32_t values = images.width * kChannels;
    const std::uint8_t* const from = images.source + images.offset<kChannels>(y, 0) + first;
    if constexpr (kWords) {
        if (first >= 0 && first + 4 <= values) return *reinterpret_cast<const std::uint32_t*>(from);
    } else if (first >= 4 && first + 8 <= values) {
        // The two aligned words around it, which lie within the row.
        const unsigned skipped = reinterpret_cast<std::uintptr_t>(from) % 4;
        const auto* const words = reinterpret_cast<const std::uint32_t*>(from - skipped);
        return __funnelshift_r(words[0], words[1], 8 * skipped);
    }
    return gather_word<kChannels>(images, y, first);
}

/// Stores those of four values that lie within row y.
template <int kChannels, bool kWords>
__device__ void store_word(const Images& images, std::int32_t y, std::int32_t first, std::uint32_t word) {
    const std::int32_t values = images.width * kChannels;
    if (first >= values) return;
    std::uint8_t* const to = images.result + images.offset<kChannels>(y, 0) + first;
    if constexpr (kWords) {
        *reinterpret_cast<std::uint32_t*>(to) = word;
    } else {
        for (int b = 0; b < 4 && first + b < values; ++b) to[b] = static_cast<std::uint8_t>(word >> (8 * b));
    }
}

}  // namespace espalier::convolution_2d
