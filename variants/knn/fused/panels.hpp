#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

/// Items packed for register tiles: a panel of kWidth items holds their values attribute by attribute, side by side,
/// so that a tile reads both of its panels from one end to the other. `inline` into functions that have a target
/// attribute, whose instruction set the vectoriser then uses.
namespace espalier::knn::fused {

constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t step) { return (n + step - 1) / step * step; }

inline constexpr std::int64_t kLine = 16;  ///< floats in a line of the cache

/// Room for so many numbers, not set, from the beginning of a line on: what lies across two takes twice as long to
/// read.
template <class T>
class Lines {
public:
    explicit Lines(std::int64_t count)
        : lines_(std::make_unique_for_overwrite<Line[]>(
              static_cast<std::size_t>(rounded_up(count, kNumbers) / kNumbers))) {}

    [[nodiscard]] T* data() const { return reinterpret_cast<T*>(lines_.get()); }

private:
    static constexpr std::int64_t kNumbers = 64 / sizeof(T);
    struct alignas(64) Line {
        T numbers[kNumbers];
    };
    std::unique_ptr<Line[]> lines_;
};

/// What to pack: `count` items from `first` of a table, attribute-major, of `items` items. With their `lengths` they
/// are packed at unit length; those of length 0 stay.
struct Slice {
    const float* values;
    std::int64_t items, dims, first, count;
    const float* lengths = nullptr;

    [[nodiscard]] const float* attribute(std::int64_t a) const { return values + a * items + first; }

    /// `most` items of the slice, from its j-th on.
    [[nodiscard]] Slice part(std::int64_t j, std::int64_t most) const {
        return {values, items, dims, first + j, std::min(most, count - j), lengths ? lengths + j : nullptr};
    }
};

/// Brings an attribute of the next panel into the caches: it is pages away from the next attribute, and nothing else
/// would know of it.
template <int kWidth>
[[gnu::always_inline]] inline void fetch_next(const float* attribute) {
    for (int j = 0; j < kWidth; j += kLine) __builtin_prefetch(attribute + kWidth + j);
}

/// `for_panel` of items at unit length.
template <int kWidth, class Take>
[[gnu::always_inline]] inline void for_unit_panel(const Slice& slice, Take take) {
    std::array<float, kWidth> scales{};
    for (int j = 0; j < slice.count; ++j)
        scales[static_cast<std::size_t>(j)] = slice.lengths[j] == 0 ? 0 : 1 / slice.lengths[j];
    for (std::int64_t a = 0; a < slice.dims; ++a) {
        const float* from = slice.attribute(a);
        fetch_next<kWidth>(from);
        if (slice.count == kWidth)
            for (int j = 0; j < kWidth; ++j) take(a, j, from[j] * scales[static_cast<std::size_t>(j)]);
        else
            for (int j = 0; j < kWidth; ++j)
                take(a, j, j < slice.count ? from[j] * scales[static_cast<std::size_t>(j)] : 0);
    }
}

/// Calls `take(a, j, value - centre)` for each value of a panel, zeros beyond the slice. Items at unit length have no
/// centre.
template <int kWidth, class Take>
[[gnu::always_inline]] inline void for_panel(const Slice& slice, const float* centre, Take take) {
    if (slice.lengths) return for_unit_panel<kWidth>(slice, take);
    for (std::int64_t a = 0; a < slice.dims; ++a) {
        const float* from = slice.attribute(a);
        const float middle = centre[a];
        fetch_next<kWidth>(from);
        if (slice.count == kWidth)
            for (int j = 0; j < kWidth; ++j) take(a, j, from[j] - middle);
        else
            for (int j = 0; j < kWidth; ++j) take(a, j, j < slice.count ? from[j] - middle : 0);
    }
}

/// A panel of (value - centre) * scale.
template <int kWidth>
[[gnu::always_inline]] inline void pack_panel(const Slice& slice, const float* centre, float scale, float* panel) {
    for_panel<kWidth>(
        slice, centre, [&](std::int64_t a, int j, float value) __attribute__((always_inline)) {
            panel[a * kWidth + j] = value * scale;
        });
}

/// The sums of the squares of value - centre.
template <int kWidth>
[[gnu::always_inline]] inline void sum_squares(const Slice& slice, const float* centre, double* squares) {
    std::array<double, kWidth> sums{};
    for_panel<kWidth>(
        slice, centre, [&](std::int64_t, int j, float value) __attribute__((always_inline)) {
            sums[static_cast<std::size_t>(j)] += static_cast<double>(value) * static_cast<double>(value);
        });
    std::copy_n(sums.data(), slice.count, squares);
}

/// The items side by side, a cache line of one at a time: rows of 1,024 numbers and the like are as far apart as lines
/// that push each other out of the first-level cache.
inline void pack_rows(const Slice& slice, float* rows) {
    for (std::int64_t begin = 0; begin < slice.count; begin += kLine)
        for (std::int64_t a = 0; a < slice.dims; a += kLine) {
            const std::int64_t items = std::min(kLine, slice.count - begin), dims = std::min(kLine, slice.dims - a);
            float lines[kLine][kLine];
            for (std::int64_t i = 0; i < dims; ++i) {
                const float* from = slice.attribute(a + i) + begin;
                for (std::int64_t j = 0; j < items; ++j) lines[j][i] = from[j];
            }
            for (std::int64_t j = 0; j < items; ++j) std::copy_n(lines[j], dims, rows + (begin + j) * slice.dims + a);
        }
}

/// About the middle of the points: the mean of a few runs of them. Any centre is right; a near one keeps the squares
/// of norms small, which the bounds of the screen are made of. 0 where the values have no mean.
inline float rough_mean(const float* values, std::int64_t count) {
    constexpr std::int64_t kRuns = 16, kRun = 16;
    double sum = 0;
    std::int64_t seen = 0;
    const std::int64_t step = std::max(kRun, count / kRuns);
    for (std::int64_t begin = 0; begin < count; begin += step)
        for (std::int64_t i = begin; i < std::min(begin + kRun, count); ++i, ++seen)
            sum += static_cast<double>(values[i]);
    const auto mean = static_cast<float>(sum / static_cast<double>(std::max<std::int64_t>(seen, 1)));
    return mean - mean == 0 ? mean : 0;
}

}  // namespace espalier::knn::fused
