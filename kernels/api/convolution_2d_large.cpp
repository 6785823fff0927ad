// Filters of 7x7, on the CPU: no variant of convolution_2d has this side, and parts of 5x5 do not add up to it, because
// each result is saturated to a byte.

#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "espalier/convolution_2d.hpp"
#include "kernels/api/convolution_2d_images.hpp"
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

/// A filter as its rows are computed, with sums of the type `Sum`.
template <class Sum>
struct Prepared {
    std::array<Taps7<Sum>, kSide> taps{};
    bool separable = false;
    Taps7<Sum> column{}, row{};
};

template <class Sum>
Prepared<Sum> prepared(const Filter7x7& filter) {
    Prepared<Sum> made;
    for (int i = 0; i < kSide; ++i)
        for (int j = 0; j < kSide; ++j)
            made.taps[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] = static_cast<Sum>(at(filter, i, j));
    if (const auto parts = separated(filter)) {
        made.separable = true;
        made.column = taps_of<Sum>(parts->column);
        made.row = taps_of<Sum>(parts->row);
    }
    return made;
}

/// The computation for images of one shape, and its number of threads.
struct LargeFilter {
    ImagePair images;
    Border border;
    std::variant<Prepared<float>, Prepared<double>> filter;
    int shares;  ///< of the rows, each by a thread

    [[nodiscard]] std::int64_t values() const {
        return images.shape.width * images.shape.height * images.shape.channels;
    }
    [[nodiscard]] bool is_separable() const {
        return std::visit([](const auto& prepared) { return prepared.separable; }, filter);
    }
};

LargeFilter large_filter(const ConstImage& image, const Filter7x7& filter, Border border, const Image& result,
                         int threads) {
    LargeFilter made{{image.shape, image.pitch, result.pitch}, border, {}, 1};
    if (suits_float(filter))
        made.filter = prepared<float>(filter);
    else
        made.filter = prepared<double>(filter);
    // Waking threads costs more than a small image does; and each starts with six rows of its own.
    constexpr std::int64_t kWorthThreads = 1 << 17, kLeastRows = 16;
    const std::int64_t most =
        made.values() < kWorthThreads ? 1 : std::max<std::int64_t>(1, image.shape.height / kLeastRows);
    made.shares = static_cast<int>(std::min<std::int64_t>(threads, most));
    return made;
}

/// One image, filtered by rows.
template <class Sum>
class Convolution7x7 {
public:
    Convolution7x7(const LargeFilter& call, const Prepared<Sum>& filter, const std::uint8_t* image,
                   std::uint8_t* result)
        : shape_(call.images.shape),
          filter_(filter),
          border_(call.border),
          image_(image),
          result_(result),
          row_values_(shape_.width * shape_.channels),
          image_pitch_(call.images.pitch(call.images.image_pitch)),
          result_pitch_(call.images.pitch(call.images.result_pitch)),
          padded_values_(padded_values(shape_)) {}

    /// Numbers of memory that `rows` needs: the ring, and a row before it is filtered.
    static std::size_t memory(const ImageShape& shape) {
        return static_cast<std::size_t>((kSide + 1) * padded_values(shape));
    }

    void rows(std::int64_t begin, std::int64_t end, Sum* memory) const {
        const std::span<Sum> ring(memory, static_cast<std::size_t>(kSide * padded_values_));
        Sum* const padded = memory + kSide * padded_values_;
        row_filter::slide<kSide, Sum>(
            shape_.height, border_, begin, end, ring, padded_values_,
            [&](std::int64_t y, Sum* row) {
                fill(y, filter_.separable ? padded : row);
                if (!filter_.separable) return;
                std::fill(row, row + row_values_, Sum{0});
                row_filter::add_row<kSide, Sum>(padded, filter_.row, shape_.channels, row_values_, row);
            },
            [&](std::int64_t y, const row_filter::PaddedRows<kSide, Sum>& rows) { filter_row(y, rows); });
    }

private:
    static std::int64_t padded_values(const ImageShape& shape) {
        return row_filter::padded_width<kSide>(shape.width) * shape.channels;
    }

    void fill(std::int64_t y, Sum* to) const {
        const std::int64_t channels = shape_.channels;
        const std::uint8_t* const from = y < 0 ? nullptr : image_ + y * image_pitch_;
        row_filter::for_padded<kSide>(shape_.width, border_, [&](std::int64_t x) {
            for (std::int64_t c = 0; c < channels; ++c)
                *to++ = from && x >= 0 ? static_cast<Sum>(from[x * channels + c]) : Sum{0};
        });
    }

    void filter_row(std::int64_t y, const row_filter::PaddedRows<kSide, Sum>& rows) const {
        std::array<Sum, row_filter::kBlock> sums;
        std::uint8_t* const to = result_ + y * result_pitch_;
        for (std::int64_t first = 0; first < row_values_; first += row_filter::kBlock) {
            const std::int64_t count = std::min(row_filter::kBlock, row_values_ - first);
            if (filter_.separable) {
                row_filter::add_rows<kSide, Sum>(rows, first, filter_.column, count, sums.data());
            } else {
                sums.fill(0);
                for (std::size_t i = 0; i < kSide; ++i)
                    row_filter::add_row<kSide, Sum>(rows[i] + first, filter_.taps[i], shape_.channels, count,
                                                    sums.data());
            }
            for (std::int64_t v = 0; v < count; ++v) to[first + v] = byte_of(sums[static_cast<std::size_t>(v)]);
        }
    }

    const ImageShape& shape_;
    const Prepared<Sum>& filter_;
    Border border_;
    const std::uint8_t* image_;
    std::uint8_t* result_;
    std::int64_t row_values_, image_pitch_, result_pitch_, padded_values_;
};

/// Bytes of memory that a share of an image needs, of which each begins a cache line.
std::size_t share_bytes(const LargeFilter& call) {
    const auto bytes = [&]<class Sum>(const Prepared<Sum>&) {
        return Convolution7x7<Sum>::memory(call.images.shape) * sizeof(Sum);
    };
    return (std::visit(bytes, call.filter) + kCpuAlignment - 1) / kCpuAlignment * kCpuAlignment;
}

std::size_t memory_bytes(const LargeFilter& call) {
    return call.values() == 0 ? 0 : share_bytes(call) * static_cast<std::size_t>(call.shares);
}

/// In memory for each of `shares`, no more than the call's.
template <class Sum>
void convolve(const LargeFilter& call, const Prepared<Sum>& filter, const std::uint8_t* image, std::uint8_t* result,
              int shares, std::byte* memory, const Progress& progress) {
    const Convolution7x7<Sum> convolution(call, filter, image, result);
    const std::size_t bytes = share_bytes(call);
    // A part takes some tens of milliseconds, and so many rows that the six that each share starts with are few.
    constexpr std::int64_t kValuesInPart = 1 << 23;
    const std::int64_t height = call.images.shape.height;
    const std::int64_t at_once =
        progress.is_wanted() ? std::max<std::int64_t>(64 * shares, kValuesInPart * height / call.values()) : height;
    for (std::int64_t first = 0; first < height; first += at_once) {
        const std::int64_t rows = std::min(at_once, height - first);
        const auto work = [&](int share) {
            convolution.rows(first + rows * share / shares, first + rows * (share + 1) / shares,
                             reinterpret_cast<Sum*>(memory + bytes * static_cast<std::size_t>(share)));
        };
        if (shares == 1) {  // OpenMP's team of one thread costs more than an image of a few pixels
            work(0);
        } else {
#pragma omp parallel for num_threads(shares) schedule(static)
            for (int share = 0; share < shares; ++share) work(share);
        }
        progress.after(first + rows, height);
    }
}

/// An image that may be empty.
void convolve(const LargeFilter& call, const ConstImage& image, const Image& result, int shares, std::byte* memory,
              const Progress& progress) {
    progress.at_start();
    if (call.values() > 0)
        std::visit(
            [&](const auto& filter) { convolve(call, filter, image.data, result.data, shares, memory, progress); },
            call.filter);
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

/// The arrays of two images whose shapes and pitches are right: variants of 5x5 copy parts of images, this reads them.
std::optional<Error> wrong_arrays_of(const DeviceState& device, const ConstImage& image, const Image& result,
                                     std::span<std::byte> workspace) {
    const std::int64_t rows = image.shape.height, values = image.shape.width * rows * image.shape.channels;
    const std::array<ArraySpec, 2> specs{in_rows(input_of<std::uint8_t>("image.data", values), rows, image.pitch),
                                         in_rows(output_of<std::uint8_t>("result.data", values), rows, result.pitch)};
    const Pointers<2> pointers{const_cast<std::uint8_t*>(image.data), result.data};
    return wrong_arrays({&device, Memory::host}, specs, pointers, workspace);
}

Explanation explanation_for(const DeviceState& device, const ImageShape& shape, bool separable) {
    Explanation explanation;
    explanation.family = "convolution_2d";
    explanation.problem = "width=" + std::to_string(shape.width) + ";height=" + std::to_string(shape.height) +
                          ";channels=" + std::to_string(shape.channels) + ";side=7";
    explanation.device = device.info.key;
    explanation.variant = separable ? "rows_7x7_separable" : "rows_7x7";
    explanation.configuration = "default";
    explanation.reason = "the only way that 7x7 filters are computed; no measurement chose it";
    return explanation;
}

struct LargePlan final : ConvolutionPlanState {
    LargePlan(const Device& device, LargeFilter filter, int asked_threads)
        : ConvolutionPlanState(device, memory_bytes(filter), /*is_deterministic=*/true),
          call(std::move(filter)),
          asked(asked_threads) {}

    [[nodiscard]] Explanation explain() const override {
        return explanation_for(state_of(of_device), call.images.shape, call.is_separable());
    }

    [[nodiscard]] Result<void> run(const ConstImage& image, const Image& result, Stream stream,
                                   std::span<std::byte> workspace) const override {
        if (stream) return invalid("the stream must be null for the CPU");
        if (auto error = other_images(image, result, call.images)) return *error;
        const DeviceState& device = state_of(of_device);
        if (auto error = wrong_arrays_of(device, image, result, workspace)) return *error;
        if (auto error = wrong_workspace({&device, Memory::host}, {}, {}, workspace_bytes, workspace)) return *error;
        const int shares = std::min(call.shares, device::allowed_threads(asked, call.shares));
        convolve(call, image, result, shares, workspace.data(), Progress(Options{}));
        return {};
    }

    LargeFilter call;
    int asked;  ///< as `Options::threads`
};

}  // namespace

Result<void> convolve_2d(const Device& device, const ConstImage& image, const Filter7x7& filter, Border border,
                         const Image& result, const Options& options) {
    return guarded([&]() -> Result<void> {
        const DeviceState& state = state_of(device);
        if (auto error = invalid_7x7(state, image.shape, filter, border, options)) return *error;
        if (auto error = unlike(image, result)) return *error;
        if (auto error = wrong_arrays_of(state, image, result, {})) return *error;
        const LargeFilter call = large_filter(image, filter, border, result, threads_for(state, options));
        const CallMemory memory({&state, Memory::host}, memory_bytes(call), nullptr);
        convolve(call, image, result, call.shares, memory.span().data(), Progress(options));
        return {};
    });
}

Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ImageShape& shape, const Filter7x7& filter,
                                         Border border, const Options& options, const PlanOptions& planning) {
    return plan_convolve_2d(device, {nullptr, shape}, filter, border, {nullptr, shape}, options, planning);
}

Result<ConvolutionPlan> plan_convolve_2d(const Device& device, const ConstImage& image, const Filter7x7& filter,
                                         Border border, const Image& result, const Options& options,
                                         const PlanOptions& planning) {
    return guarded([&]() -> Result<ConvolutionPlan> {
        const DeviceState& state = state_of(device);
        if (auto error = invalid_7x7(state, image.shape, filter, border, options)) return *error;
        if (auto error = unlike(image, result)) return *error;
        if (auto error = invalid_plan_options(state, options, planning)) return *error;
        LargeFilter call = large_filter(image, filter, border, result, threads_for(state, options));
        return ConvolutionPlan(std::make_shared<const LargePlan>(device, std::move(call), options.threads));
    });
}

Result<Explanation> explain_convolve_2d(const Device& device, const ImageShape& shape, const Filter7x7& filter,
                                        Border border, const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        const DeviceState& state = state_of(device);
        if (auto error = invalid_7x7(state, shape, filter, border, options)) return *error;
        return explanation_for(state, shape, separated(filter).has_value());
    });
}

}  // namespace espalier::inline v1
