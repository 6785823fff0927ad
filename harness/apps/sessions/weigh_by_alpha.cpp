#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <vector>

#include "harness/apps/sessions/image_filter.hpp"
#include "kernels/api/row_filter.hpp"

namespace espalier::bench::apps {
namespace {

/// Of each pixel: the three colours times alpha, alpha, and what it lacks of being opaque.
constexpr std::int64_t kPlanes = 5;
constexpr double kOpaque = 255;

template <int kSide>
class AlphaWeighing {
public:
    AlphaWeighing(const io::Image& image, const ImageFilter& how, const std::vector<char>& opaque_rows,
                  io::Image& result)
        : image_(image), how_(how), opaque_rows_(opaque_rows), result_(result) {
        for (std::size_t i = 0; i < kSide; ++i)
            for (std::size_t j = 0; j < kSide; ++j) {
                taps_[i][j] = static_cast<double>(how.filter.coefficients[i * kSide + j]);
                sizes_[i][j] = std::abs(taps_[i][j]);
                signs_ |= taps_[i][j] < 0;
            }
    }

    std::uint64_t rows(std::int64_t begin, std::int64_t end) {
        const std::int64_t values = row_filter::padded_width<kSide>(image_.width) * kPlanes;
        std::vector<double> ring(static_cast<std::size_t>(kSide * values));
        row_filter::slide<kSide, double>(
            image_.height, how_.border, begin, end, std::span(ring), values,
            [&](std::int64_t y, double* row) { fill(y, row); },
            [&](std::int64_t y, const Rows& padded) {
                if (!is_opaque(y)) weigh(y, padded);
            });
        return count_;
    }

private:
    using Rows = row_filter::PaddedRows<kSide, double>;
    static constexpr std::int64_t kPixels = row_filter::kBlock / kPlanes;  ///< at once
    using Sums = std::array<double, static_cast<std::size_t>(kPixels* kPlanes)>;

    /// Outside a border of zeros the image is an opaque black.
    void fill(std::int64_t y, double* to) const {
        const std::uint8_t* row =
            y < 0 ? nullptr : image_.pixels.data() + static_cast<std::size_t>(y) * image_.row_bytes();
        row_filter::for_padded<kSide>(image_.width, how_.border, [&](std::int64_t x) {
            const bool inside = row && x >= 0;
            const double alpha = inside ? row[4 * x + 3] : kOpaque;
            for (int c = 0; c < 3; ++c) *to++ = inside ? alpha * row[4 * x + c] : 0;
            *to++ = alpha;
            *to++ = kOpaque - alpha;
        });
    }

    /// Whether all rows that row y depends on are opaque.
    [[nodiscard]] bool is_opaque(std::int64_t y) const {
        for (std::int64_t i = y - kSide / 2; i <= y + kSide / 2; ++i) {
            const std::int64_t row = convolution_2d::border_index(i, image_.height, how_.border);
            if (row >= 0 && !opaque_rows_[static_cast<std::size_t>(row)]) return false;
        }
        return true;
    }

    using AllTaps = std::array<row_filter::Taps<kSide, double>, kSide>;
    static void add(const Rows& padded, const AllTaps& taps, std::int64_t first, std::int64_t values, Sums& sums) {
        sums.fill(0);
        for (std::size_t i = 0; i < kSide; ++i)
            row_filter::add_row<kSide, double>(padded[i] + first, taps[i], kPlanes, values, sums.data());
    }

    void weigh(std::int64_t y, const Rows& padded) {
        Sums sums, sizes;
        for (std::int64_t x = 0; x < image_.width; x += kPixels) {
            const std::int64_t pixels = std::min(kPixels, image_.width - x);
            add(padded, taps_, x * kPlanes, pixels * kPlanes, sums);
            if (signs_) add(padded, sizes_, x * kPlanes, pixels * kPlanes, sizes);
            const std::size_t first =
                static_cast<std::size_t>(y) * image_.row_bytes() + static_cast<std::size_t>(4 * x);
            for (std::size_t i = 0; i < static_cast<std::size_t>(pixels); ++i)
                weigh_pixel(sums.data() + i * kPlanes, (signs_ ? sizes : sums).data() + i * kPlanes, first + 4 * i);
        }
    }

    /// `sums` under the filter, `sizes` under the sizes of its coefficients.
    void weigh_pixel(const double* sums, const double* sizes, std::size_t at) {
        if (!(sizes[4] > 0)) return;  // all that counts is opaque: the library's result is right
        ++count_;
        for (std::size_t c = 0; c < 3; ++c) {
            const double mean = sizes[3] > 0 ? sizes[c] / sizes[3] : image_.pixels[at + c];
            const double sum = std::nearbyint((sums[c] + mean * sums[4]) / kOpaque);
            result_.pixels[at + c] = static_cast<std::uint8_t>(std::clamp(sum + how_.offset, 0.0, 255.0));
        }
    }

    const io::Image& image_;
    const ImageFilter& how_;
    const std::vector<char>& opaque_rows_;
    io::Image& result_;
    AllTaps taps_{}, sizes_{};
    bool signs_ = false;
    std::uint64_t count_ = 0;
};

std::vector<char> opaque_rows(const io::Image& image) {
    std::vector<char> opaque(static_cast<std::size_t>(image.height), 1);
    for (std::size_t y = 0; y < opaque.size(); ++y) {
        const std::uint8_t* row = image.pixels.data() + y * image.row_bytes();
        for (std::size_t alpha = 3; alpha < image.row_bytes(); alpha += 4)
            if (row[alpha] != 255) opaque[y] = 0;
    }
    return opaque;
}

template <int kSide>
std::uint64_t weigh(const io::Image& image, const ImageFilter& how, int threads, io::Image& result) {
    const std::vector<char> opaque = opaque_rows(image);
    if (std::ranges::count(opaque, 0) == 0) return 0;
    constexpr std::int64_t kLeastRows = 64;  // a share's own first rows cost little then
    const std::int64_t shares = std::clamp<std::int64_t>(image.height / kLeastRows, 1, std::max(1, threads));
    std::vector<std::future<std::uint64_t>> running;
    for (std::int64_t share = 0; share < shares; ++share)
        running.push_back(std::async(std::launch::async, [&, share] {
            return AlphaWeighing<kSide>(image, how, opaque, result)
                .rows(image.height * share / shares, image.height * (share + 1) / shares);
        }));
    std::uint64_t count = 0;
    for (auto& part : running) count += part.get();
    return count;
}

}  // namespace

std::uint64_t weigh_by_alpha(const io::Image& image, const ImageFilter& how, int threads, io::Image& result) {
    return how.filter.side == 7 ? weigh<7>(image, how, threads, result) : weigh<5>(image, how, threads, result);
}

}  // namespace espalier::bench::apps
