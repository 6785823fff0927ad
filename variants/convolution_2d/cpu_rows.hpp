#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/problems/convolution_2d.hpp"

/// How the CPU variants walk an image: whole rows through a variant's own kernel, and the few values
/// whose taps leave the image through the same kernel over a small patch with the border filled in.
namespace espalier::convolution_2d {

/// Rows of the image (or of a patch), the first kRadius above the first row of the result. Each points
/// kRadius pixels left of the first value wanted: tap (i, j) of value v is rows[i][v + j * channels].
template <class T, int kRows>
using SourceRows = std::array<const T*, kRows + 2 * kRadius>;

/// Where the kRows rows of the result begin.
template <int kRows>
using ResultRows = std::array<std::uint8_t*, kRows>;

/// What a kernel is asked for at most, unless it has a kBlock of its own. A block of a row: its source rows stay in the
/// first-level cache, and rows above and below the image can be one array of zeros whatever the image's width is.
template <class Kernel>
constexpr std::int64_t block_of() {
    if constexpr (requires { Kernel::kBlock; })
        return Kernel::kBlock;
    else
        return 2048;
}

/// Applies a kernel to any part of an image. A kernel has
///   using Source                    the type that it reads: bytes, or what the image was converted to
///   static constexpr int kStep      values that it computes at once; it is never asked for fewer
///   static constexpr int kRows      rows that it computes at once, a power of two (it must also offer the smaller)
///   template <int kRows> void apply(const SourceRows<Source, kRows>&, const ResultRows<kRows>&,
///                                   std::int64_t count) const
/// and may compute the last kStep of `count` values twice, but touches nothing else.
template <class Kernel>
class RowWalker {
public:
    using T = typename Kernel::Source;

    RowWalker(const Problem& problem, const T* image, std::uint8_t* result, const Kernel& kernel)
        : problem_(problem), channels_(problem.channels), image_(image), result_(result), kernel_(kernel) {}

    /// Rows [begin, end), as many at once as the kernel likes, then half as many and so on.
    template <int kRows = Kernel::kRows>
    void rows(std::int64_t begin, std::int64_t end) {
        std::int64_t y = begin;
        for (; y + kRows <= end; y += kRows) pixels<kRows>(y, 0, problem_.width);
        if constexpr (kRows > 1) rows<kRows / 2>(y, end);
    }

    /// Pixels [begin, end) of kRows rows from y on.
    template <int kRows>
    void pixels(std::int64_t y, std::int64_t begin, std::int64_t end) {
        const std::int64_t inner_begin = std::clamp<std::int64_t>(kRadius, begin, end);
        const std::int64_t inner_end = std::clamp<std::int64_t>(problem_.width - kRadius, inner_begin, end);
        if ((inner_end - inner_begin) * channels_ < Kernel::kStep) return patches<kRows>(y, begin, end);
        patches<kRows>(y, begin, inner_begin);
        inner<kRows>(y, inner_begin, inner_end);
        patches<kRows>(y, inner_end, end);
    }

private:
    static constexpr std::int64_t kLeastPatchPixels = 16;
    static constexpr std::int64_t kMostPatchPixels = std::max<std::int64_t>(kLeastPatchPixels, Kernel::kStep);
    static constexpr std::int64_t kMaxChannels = 4;
    static constexpr std::int64_t kBlock = block_of<Kernel>();
    static constexpr std::int64_t kPatch = std::max<std::int64_t>(kLeastPatchPixels * kMaxChannels, Kernel::kStep) +
                                           2 * kRadius * kMaxChannels + Kernel::kStep;
    static_assert(kBlock >= 2 * Kernel::kStep && kBlock >= kPatch);

    /// Row y of the image from its first pixel on, or null where the border is zero.
    const T* source_row(std::int64_t y) const {
        const std::int64_t row = border_index(y, problem_.height, problem_.border);
        return row < 0 ? nullptr : image_ + row * problem_.row_values();
    }

    template <int kRows>
    void inner(std::int64_t y, std::int64_t begin, std::int64_t end) {
        static constexpr std::array<T, kBlock + 2 * kRadius * kMaxChannels> kZeros{};
        const std::int64_t values = (end - begin) * channels_;
        const std::int64_t blocks = (values + kBlock - 1) / kBlock;
        for (std::int64_t block = 0; block < blocks; ++block) {
            // Blocks of equal size: none is shorter than kStep.
            const std::int64_t first = values * block / blocks;
            const std::int64_t count = values * (block + 1) / blocks - first;
            SourceRows<T, kRows> sources;
            for (std::size_t i = 0; i < sources.size(); ++i) {
                const T* row = source_row(y + static_cast<std::int64_t>(i) - kRadius);
                sources[i] = row ? row + (begin - kRadius) * channels_ + first : kZeros.data();
            }
            ResultRows<kRows> results;
            for (int i = 0; i < kRows; ++i)
                results[i] = result_ + (y + i) * problem_.row_values() + begin * channels_ + first;
            kernel_.template apply<kRows>(sources, results, count);
        }
    }

    template <int kRows>
    void patches(std::int64_t y, std::int64_t begin, std::int64_t end) {
        for (std::int64_t x = begin; x < end; x += patch_pixels_) patch<kRows>(y, x, std::min(x + patch_pixels_, end));
    }

    /// At most patch_pixels_ pixels, wherever they lie.
    template <int kRows>
    void patch(std::int64_t y, std::int64_t begin, std::int64_t end) {
        look_at(begin, end);
        SourceRows<T, kRows> sources;
        for (std::size_t i = 0; i < sources.size(); ++i)
            sources[i] = patch_row(y + static_cast<std::int64_t>(i) - kRadius);
        ResultRows<kRows> results;
        for (int i = 0; i < kRows; ++i) results[i] = patch_result_[i].data();
        const std::int64_t values = (end - begin) * channels_;
        kernel_.template apply<kRows>(sources, results, std::max<std::int64_t>(values, Kernel::kStep));
        for (int i = 0; i < kRows; ++i)
            std::memcpy(result_ + (y + i) * problem_.row_values() + begin * channels_, results[i],
                        static_cast<std::size_t>(values));
    }

    /// The pixels that the patches are of from here on.
    void look_at(std::int64_t begin, std::int64_t end) {
        if (begin == patch_begin_ && end == patch_end_) return;
        patch_begin_ = begin;
        patch_end_ = end;
        for (std::int64_t i = 0; i < end - begin + 2 * kRadius; ++i)
            columns_[i] = border_index(begin - kRadius + i, problem_.width, problem_.border);
        held_.fill(kNoRow);
    }

    /// Row y of these pixels. Patches one above the other share most of their rows: what is there is not filled again.
    const T* patch_row(std::int64_t y) {
        const std::size_t place = static_cast<std::size_t>(y + kRadius) % patch_.size();
        if (held_[place] != y) fill(patch_[place].data(), source_row(y));
        held_[place] = y;
        return patch_[place].data();
    }

    void fill(T* to, const T* row) const {
        const std::int64_t count = patch_end_ - patch_begin_ + 2 * kRadius;
        if (!row) return static_cast<void>(std::fill_n(to, count * channels_, T{0}));
        if (channels_ == 1) {
            for (std::int64_t i = 0; i < count; ++i) to[i] = columns_[i] >= 0 ? row[columns_[i]] : T{0};
            return;
        }
        for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t c = 0; c < channels_; ++c)
                *to++ = columns_[i] >= 0 ? row[columns_[i] * channels_ + c] : T{0};
    }

    const Problem& problem_;
    std::int64_t channels_;
    std::int64_t patch_pixels_ =
        std::max<std::int64_t>(kLeastPatchPixels, Kernel::kStep / channels_);  ///< what the kernel computes
    const T* image_;
    std::uint8_t* result_;
    const Kernel& kernel_;
    static constexpr std::int64_t kNoRow = -1 - kRadius;
    static constexpr std::size_t kHeld = Kernel::kRows + 2 * kRadius;
    std::int64_t patch_begin_ = 0, patch_end_ = 0;
    std::array<std::int64_t, kMostPatchPixels + 2 * kRadius> columns_;  ///< of the image; -1 where it is zero
    std::array<std::int64_t, kHeld> held_;                              ///< rows of the image
    std::array<std::array<T, kPatch>, kHeld> patch_{};                  ///< row y at y + kRadius, round and round
    std::array<std::array<std::uint8_t, kPatch>, Kernel::kRows> patch_result_;
};

/// How many threads share an image of so many values: a thread takes longer to wake than this kernel takes for a share
/// of fewer than 256 steps.
template <class Kernel>
int shares_of(const Problem& problem, int threads) {
    return static_cast<int>(std::clamp<std::int64_t>(problem.values() / (256 * Kernel::kStep), 1, threads));
}

/// Calls `work(share)` for each share, on as many threads. One share does without OpenMP, whose team of one costs more
/// than an image of a few pixels.
template <class Work>
void for_each_share(int shares, Work work) {
    if (shares == 1) return work(0);
#pragma omp parallel for num_threads(shares) schedule(static)
    for (int share = 0; share < shares; ++share) work(share);
}

/// All rows of an image on `threads` threads at most, in equal shares.
template <class Kernel>
void correlate_in_parallel(const Problem& problem, const typename Kernel::Source* image, std::uint8_t* result,
                           const Kernel& kernel, int threads) {
    if (problem.values() == 0) return;
    const int shares = shares_of<Kernel>(problem, threads);
    for_each_share(shares, [&](int share) {
        RowWalker<Kernel>(problem, image, result, kernel)
            .rows(problem.height * share / shares, problem.height * (share + 1) / shares);
    });
}

}  // namespace espalier::convolution_2d
