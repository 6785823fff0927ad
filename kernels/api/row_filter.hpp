#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/problems/convolution_2d.hpp"

/// Filters of any odd side by rows, for what no variant of convolution_2d computes: other sides than 5, and sums that
/// are not saturated. Every row of the image becomes a padded one of numbers once; the inner loop takes all taps of a
/// row of the filter at once, over a block of sums that stays in the first-level cache, and is left to the compiler's
/// vectors. Sums are added in one order on every machine.
namespace espalier::row_filter {

template <int kSide, class Sum>
using Taps = std::array<Sum, static_cast<std::size_t>(kSide)>;

/// Rows of the padded image above, at and below a row of the result.
template <int kSide, class Sum>
using PaddedRows = std::array<const Sum*, static_cast<std::size_t>(kSide)>;

inline constexpr std::int64_t kBlock = 1024;  ///< sums at once

/// sums[v] += taps[0] * row[v] + taps[1] * row[v + step] + ...
template <int kSide, class Sum>
void add_row(const Sum* __restrict row, const Taps<kSide, Sum>& taps, std::int64_t step, std::int64_t count,
             Sum* __restrict sums) {
    for (std::int64_t v = 0; v < count; ++v) {
        Sum sum = sums[v];
        for (int j = 0; j < kSide; ++j) sum += taps[static_cast<std::size_t>(j)] * row[v + j * step];
        sums[v] = sum;
    }
}

/// sums[v] = taps[0] * rows[0][v] + taps[1] * rows[1][v] + ...
template <int kSide, class Sum>
void add_rows(const PaddedRows<kSide, Sum>& rows, std::int64_t first, const Taps<kSide, Sum>& taps, std::int64_t count,
              Sum* __restrict sums) {
    for (std::int64_t v = 0; v < count; ++v) {
        Sum sum = 0;
        for (int i = 0; i < kSide; ++i)
            sum += taps[static_cast<std::size_t>(i)] * rows[static_cast<std::size_t>(i)][first + v];
        sums[v] = sum;
    }
}

/// Pixels of a padded row: the image's, and half a filter on either side.
template <int kSide>
constexpr std::int64_t padded_width(std::int64_t width) {
    return width + kSide - 1;
}

/// Calls `pixel(column of the image, or -1 for a zero)` for every pixel of a padded row.
template <int kSide, class Pixel>
void for_padded(std::int64_t width, Border border, Pixel&& pixel) {
    constexpr std::int64_t kHalf = kSide / 2;
    for (std::int64_t x = -kHalf; x < 0; ++x) pixel(convolution_2d::border_index(x, width, border));
    for (std::int64_t x = 0; x < width; ++x) pixel(x);
    for (std::int64_t x = width; x < width + kHalf; ++x) pixel(convolution_2d::border_index(x, width, border));
}

/// Slides down the rows [begin, end) of the result: `load(y, row)` fills a row from the image's row y, -1 for one of
/// zeros, and `work(y, rows)` has all that row y of the result depends on. `ring` has kSide * row_values numbers.
template <int kSide, class Sum, class Load, class Work>
void slide(std::int64_t height, Border border, std::int64_t begin, std::int64_t end, std::span<Sum> ring,
           std::int64_t row_values, Load&& load, Work&& work) {
    constexpr std::int64_t kHalf = kSide / 2;
    // Rows from begin - kHalf on take turns in the ring.
    const auto slot = [&](std::int64_t y) { return ring.data() + (y - begin + kHalf) % kSide * row_values; };
    for (std::int64_t y = begin - kHalf; y < end + kHalf; ++y) {
        load(convolution_2d::border_index(y, height, border), slot(y));
        const std::int64_t middle = y - kHalf;
        if (middle < begin) continue;
        PaddedRows<kSide, Sum> rows;
        for (int i = 0; i < kSide; ++i) rows[static_cast<std::size_t>(i)] = slot(middle + i - kHalf);
        work(middle, rows);
    }
}

}  // namespace espalier::row_filter
