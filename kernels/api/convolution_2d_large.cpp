// Filters of 7x7, on the CPU: no variant of convolution_2d has this side, and parts of 5x5 do not add up to it, because
// each result is saturated to a byte.

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "espalier/convolution_2d.hpp"
#include "kernels/api/images.hpp"
#include "kernels/api/planned.hpp"
#include "kernels/api/row_filter.hpp"
#include "kernels/dispatch/refusal.hpp"
#include "kernels/problems/convolution_2d.hpp"

namespace espalier::inline v1 {
namespace {

constexpr int kSide = 7;

template <class Sum>
using Taps7 = row_filter::Taps<kSide, Sum>;

/// A filter as the product of a column and a row: 14 multiplications a value instead of 49.
struct Separated {
    Taps7<double> column{}, row{};
};

float at(const Filter7x7& filter, int i, int j) { return filter[static_cast<std::size_t>(i * kSide + j)]; }

bool is_whole(const Filter7x7& filter) {
    return std::all_of(filter.begin(), filter.end(), [](float c) { return c == std::nearbyint(c); });
}

/// The largest whole number that divides a row of whole numbers.
double common_factor(const Taps7<double>& row) {
    std::int64_t factor = 0;
    for (const double c : row) factor = std::gcd(factor, static_cast<std::int64_t>(c));
    return factor == 0 ? 1 : static_cast<double>(factor);
}

/// The factors of a filter that has them: exactly for whole numbers, else within the rounding of its coefficients.
std::optional<Separated> separated(const Filter7x7& filter) {
    const auto* largest =
        std::max_element(filter.begin(), filter.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
    const auto pivot = static_cast<int>(largest - filter.begin());
    constexpr float kMostWhole = 1 << 24;
    if (*largest == 0 || std::abs(*largest) > kMostWhole) return std::nullopt;
    const bool whole = is_whole(filter);
    Separated parts;
    for (int j = 0; j < kSide; ++j) parts.row[static_cast<std::size_t>(j)] = at(filter, pivot / kSide, j);
    if (const double factor = whole ? common_factor(parts.row) : 1; factor != 1)
        for (double& c : parts.row) c /= factor;
    constexpr double kRounding = 0x1p-22;  // four roundings of a coefficient in single precision
    for (int i = 0; i < kSide; ++i) {
        double& c = parts.column[static_cast<std::size_t>(i)];
        c = at(filter, i, pivot % kSide) / parts.row[static_cast<std::size_t>(pivot % kSide)];
        for (int j = 0; j < kSide; ++j) {
            const double product = c * parts.row[static_cast<std::size_t>(j)], wanted = at(filter, i, j);
            if (std::abs(product - wanted) > (whole ? 0 : kRounding * std::abs(wanted))) return std::nullopt;
        }
        if (whole && c != std::nearbyint(c)) return std::nullopt;
    }
    return parts;
}

/// Whether no partial sum of single precision needs rounding, or the coefficients are fractions, for which single
/// precision is what convolve_2d promises.
bool suits_float(const Filter7x7& filter) {
    double sizes = 0;
    for (const float c : filter) sizes += std::abs(static_cast<double>(c));
    return 255 * sizes < 0x1p24 || !is_whole(filter);
}

std::uint8_t byte_of(float sum) { return convolution_2d::saturate(sum); }

std::uint8_t byte_of(double sum) {
    const double clamped = sum > 0 ? (sum < 255 ? sum : 255) : 0;
    return static_cast<std::uint8_t>((clamped + 0x1p52) - 0x1p52);  // rounded as the hardware does, ties to even
}

template <class Sum>
Taps7<Sum> taps_of(const Taps7<double>& taps) {
    Taps7<Sum> result;
    std::transform(taps.begin(), taps.end(), result.begin(), [](double c) { return static_cast<Sum>(c); });
    return result;
}

/// One image, filtered by rows. `Sum` is the type of the sums.
template <class Sum>
class Convolution7x7 {
public:
    Convolution7x7(const ConstImage& image, const Filter7x7& filter, Border border, const Image& result)
        : image_(image),
          border_(border),
          result_(result),
          row_values_(image.shape.width * image.shape.channels),
          image_pitch_(image.pitch == 0 ? row_values_ : image.pitch),
          result_pitch_(result.pitch == 0 ? row_values_ : result.pitch),
          padded_values_(row_filter::padded_width<kSide>(image.shape.width) * image.shape.channels) {
        for (int i = 0; i < kSide; ++i)
            for (int j = 0; j < kSide; ++j)
                taps_[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = static_cast<Sum>(at(filter, i, j));
        if (const auto parts = separated(filter)) {
            separable_ = true;
            column_ = taps_of<Sum>(parts->column);
            row_ = taps_of<Sum>(parts->row);
        }
    }

    /// Numbers of memory that `rows` needs: the ring, and a row before it is filtered.
    [[nodiscard]] std::size_t memory() const { return static_cast<std::size_t>((kSide + 1) * padded_values_); }

    void rows(std::int64_t begin, std::int64_t end, Sum* memory) const {
        const std::span<Sum> ring(memory, static_cast<std::size_t>(kSide * padded_values_));
        Sum* const padded = memory + kSide * padded_values_;
        row_filter::slide<kSide, Sum>(
            image_.shape.height, border_, begin, end, ring, padded_values_,
            [&](std::int64_t y, Sum* row) {
                fill(y, separable_ ? padded : row);
                if (!separable_) return;
                std::fill(row, row + row_values_, Sum{0});
                row_filter::add_row<kSide, Sum>(padded, row_, image_.shape.channels, row_values_, row);
            },
            [&](std::int64_t y, const row_filter::PaddedRows<kSide, Sum>& rows) { filter_row(y, rows); });
    }

private:
    void fill(std::int64_t y, Sum* to) const {
        const std::int64_t channels = image_.shape.channels;
        const std::uint8_t* const from = y < 0 ? nullptr : image_.data + y * image_pitch_;
        row_filter::for_padded<kSide>(image_.shape.width, border_, [&](std::int64_t x) {
            for (std::int64_t c = 0; c < channels; ++c)
                *to++ = from && x >= 0 ? static_cast<Sum>(from[x * channels + c]) : Sum{0};
        });
    }

    void filter_row(std::int64_t y, const row_filter::PaddedRows<kSide, Sum>& rows) const {
        std::array<Sum, row_filter::kBlock> sums;
        std::uint8_t* const to = result_.data + y * result_pitch_;
        for (std::int64_t first = 0; first < row_values_; first += row_filter::kBlock) {
            const std::int64_t count = std::min(row_filter::kBlock, row_values_ - first);
            if (separable_) {
                row_filter::add_rows<kSide, Sum>(rows, first, column_, count, sums.data());
            } else {
                sums.fill(0);
                for (std::size_t i = 0; i < kSide; ++i)
                    row_filter::add_row<kSide, Sum>(rows[i] + first, taps_[i], image_.shape.channels, count,
                                                    sums.data());
            }
            for (std::int64_t v = 0; v < count; ++v) to[first + v] = byte_of(sums[static_cast<std::size_t>(v)]);
        }
    }

    const ConstImage& image_;
    Border border_;
    const Image& result_;
    std::int64_t row_values_, image_pitch_, result_pitch_, padded_values_;
    std::array<Taps7<Sum>, kSide> taps_{};
    bool separable_ = false;
    Taps7<Sum> column_{}, row_{};
};

template <class Sum>
void convolve(const ConstImage& image, const Filter7x7& filter, Border border, const Image& result, int threads,
              const Progress& progress) {
    const Convolution7x7<Sum> convolution(image, filter, border, result);
    // Waking threads costs more than a small image does; and each starts with six rows of its own.
    constexpr std::int64_t kWorthThreads = 1 << 17, kLeastRows = 16;
    const std::int64_t values = image.shape.width * image.shape.height * image.shape.channels;
    const std::int64_t most = values < kWorthThreads ? 1 : std::max<std::int64_t>(1, image.shape.height / kLeastRows);
    const int shares = static_cast<int>(std::min<std::int64_t>(threads, most));
    std::vector<Sum> memory(convolution.memory() * static_cast<std::size_t>(shares));
    // A part takes some tens of milliseconds, and so many rows that the six that each share starts with are few.
    constexpr std::int64_t kValuesInPart = 1 << 23;
    const std::int64_t height = image.shape.height;
    const std::int64_t at_once =
        progress.is_wanted() ? std::max<std::int64_t>(64 * shares, kValuesInPart * height / values) : height;
    progress.at_start();
    for (std::int64_t first = 0; first < height; first += at_once) {
        const std::int64_t rows = std::min(at_once, height - first);
#pragma omp parallel for num_threads(shares) schedule(static) if (shares > 1)
        for (int share = 0; share < shares; ++share)
            convolution.rows(first + rows * share / shares, first + rows * (share + 1) / shares,
                             memory.data() + convolution.memory() * static_cast<std::size_t>(share));
        progress.after(first + rows, height);
    }
    progress.at_end();
}

std::optional<Error> invalid_7x7(const DeviceState& device, const ImageShape& shape, const Filter7x7& filter,
                                 Border border, const Options& options) {
    if (auto refused = refused_channels(shape.channels)) return invalid(std::move(*refused));
    if (!is_enumerator(border, Border::mirror)) return invalid("border is none of the enumerators of espalier::Border");
    if (auto error = invalid_sizes({{"width", shape.width}, {"height", shape.height}, {"channels", shape.channels}}))
        return error;
    double sizes = 0;
    for (const float c : filter) sizes += std::abs(static_cast<double>(c));
    if (!(sizes < 1e36))
        return invalid(
            "the filter's coefficients must be finite numbers whose absolute values add up to less than 1e36");
    if (device.info.kind == DeviceKind::cuda)
        return Error{ErrorCode::unsupported, "7x7 filters are computed on the CPU alone: use Device::cpu()"};
    if (!options.variant.empty())
        return Error{ErrorCode::unknown_variant, "7x7 filters have no variants: leave Options::variant empty"};
    return invalid_options(device, options);
}

std::optional<Error> wrong_images(const DeviceState& device, const ConstImage& image, const Image& result) {
    if (!(image.shape == result.shape)) return invalid("the image and its result must have one shape");
    if (auto error = invalid_pitch("image.pitch", image.shape, image.pitch)) return error;
    if (auto error = invalid_pitch("result.pitch", result.shape, result.pitch)) return error;
    const std::int64_t rows = image.shape.height, values = image.shape.width * rows * image.shape.channels;
    const std::array<ArraySpec, 2> specs{in_rows(input_of<std::uint8_t>("image.data", values), rows, image.pitch),
                                         in_rows(output_of<std::uint8_t>("result.data", values), rows, result.pitch)};
    const Pointers<2> pointers{const_cast<std::uint8_t*>(image.data), result.data};
    return wrong_arrays({&device, Memory::host}, specs, pointers, {});
}

}  // namespace

Result<void> convolve_2d(const Device& device, const ConstImage& image, const Filter7x7& filter, Border border,
                         const Image& result, const Options& options) {
    return guarded([&]() -> Result<void> {
        const DeviceState& state = state_of(device);
        if (auto error = invalid_7x7(state, image.shape, filter, border, options)) return *error;
        if (auto error = wrong_images(state, image, result)) return *error;
        const Progress progress(options);
        if (image.shape.width == 0 || image.shape.height == 0) {
            progress.at_start();
            progress.at_end();
            return {};
        }
        const int threads = threads_for(state, options);
        if (suits_float(filter))
            convolve<float>(image, filter, border, result, threads, progress);
        else
            convolve<double>(image, filter, border, result, threads, progress);
        return {};
    });
}

Result<Explanation> explain_convolve_2d(const Device& device, const ImageShape& shape, const Filter7x7& filter,
                                        Border border, const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        const DeviceState& state = state_of(device);
        if (auto error = invalid_7x7(state, shape, filter, border, options)) return *error;
        Explanation explanation;
        explanation.family = "convolution_2d";
        explanation.problem = "width=" + std::to_string(shape.width) + ";height=" + std::to_string(shape.height) +
                              ";channels=" + std::to_string(shape.channels) + ";side=7";
        explanation.device = state.info.key;
        explanation.variant = separated(filter) ? "rows_7x7_separable" : "rows_7x7";
        explanation.configuration = "default";
        explanation.reason = "the only way that 7x7 filters are computed; no measurement chose it";
        return explanation;
    });
}

}  // namespace espalier::inline v1
