#include "reference_cpu/convolution_2d.hpp"

#include <algorithm>
#include <optional>
#include <random>

#include "harness/base/random.hpp"
#include "harness/bench/families/parallel.hpp"
#include "harness/bench/families/suite.hpp"
#include "kernels/device/host_array.hpp"
#include "kernels/problems/convolution_2d.hpp"

namespace espalier::bench::convolution_2d {

using namespace ::espalier::convolution_2d;

namespace {

/// No filter is symmetric, so that a flipped or transposed one shows. Whole coefficients leave few sums
/// within 0..255 unless the image's contrast is low: see Pattern::descending.
Filter5x5 filter_for(Coefficients kind, std::mt19937_64& random) {
    Filter5x5 filter{};
    if (kind == Coefficients::float32) {
        std::uniform_real_distribution<float> any(-0.25F, 0.25F);
        for (float& c : filter) c = any(random);
        filter[12] = 0.5F;
        return filter;
    }
    std::uniform_int_distribution<int> any(-5, 5);  // 25 of them cannot leave narrow
    for (float& c : filter) c = static_cast<float>(any(random));
    if (kind == Coefficients::int16) filter[3] = 32767, filter[14] = -32768, filter[20] = 16384;
    return filter;
}

/// Uniform: random bytes. Constant: all 255. Ascending: ramps along the rows. Descending: random, but
/// only 0..3, so that many sums do not saturate. Special: only 0 and 255, which saturate most.
class ImageWorkload final : public Workload<Problem> {
public:
    ImageWorkload(const Problem& problem, std::uint64_t seed, Pattern pattern) : problem_(problem), pattern_(pattern) {
        refresh(seed);
    }

    std::vector<std::span<const std::byte>> inputs() const override { return {bytes_of(image_)}; }
    std::vector<std::size_t> output_bytes() const override { return {image_.size()}; }

    Buffers bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) const override {
        return {reinterpret_cast<const std::uint8_t*>(in[0]), reinterpret_cast<std::uint8_t*>(out[0]), &filter_};
    }

    Mismatch check(std::span<const std::span<const std::byte>> outputs, const Tolerance& tolerance) override {
        if (!expected_)
            expected_ = reference::convolution_2d(image_, problem_.width, problem_.height, problem_.channels, filter_,
                                                  problem_.border);
        // Whole coefficients are computed exactly whatever the variant's tolerance for fractions is.
        const double allowed = problem_.coefficients == Coefficients::float32 ? tolerance.absolute : 0;
        const auto actual = values_of<std::uint8_t>(outputs[0]);
        const std::size_t at = first_where(
            actual.size(), [&](std::size_t i) { return std::abs(int{actual[i]} - int{(*expected_)[i]}) > allowed; });
        return at == actual.size() ? Mismatch{} : Mismatch{describe(at, actual[at])};
    }

    bool adopt(std::span<const std::span<const std::byte>> outputs) override {
        const auto values = values_of<std::uint8_t>(outputs[0]);
        expected_.emplace(values.begin(), values.end());
        return true;
    }

    void refresh(std::uint64_t seed) override {
        std::mt19937_64 random(seed);
        filter_ = filter_for(problem_.coefficients, random);
        image_.resize(static_cast<std::size_t>(problem_.values()));
        generate(image_, [&](std::size_t i) { return value(i, static_cast<std::uint8_t>(random_bits(seed, i))); });
        expected_.reset();
    }

private:
    std::uint8_t value(std::size_t i, std::uint8_t random) const {
        switch (pattern_) {
            case Pattern::constant: return 255;
            case Pattern::ascending: return static_cast<std::uint8_t>(i);
            case Pattern::descending: return random & 3;
            case Pattern::special: return random & 1 ? 255 : 0;
            case Pattern::uniform: break;
        }
        return random;
    }

    std::string describe(std::size_t i, int actual) const {
        const auto at = static_cast<std::int64_t>(i);
        return "value at row " + std::to_string(at / problem_.row_values()) + ", column " +
               std::to_string(at % problem_.row_values() / problem_.channels) + ", channel " +
               std::to_string(at % problem_.channels) + " is " + std::to_string(actual) + ", expected " +
               std::to_string((*expected_)[i]);
    }

    Problem problem_;
    Pattern pattern_;
    Filter5x5 filter_{};
    device::HostArray<std::uint8_t> image_;
    std::optional<std::vector<std::uint8_t>> expected_;
};

using Sizes = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// From a few tiles up, the source's 4992 x 3744 among them. Where a width is no multiple of a word, rows begin within
/// one, which costs those that read words.
Sizes sizes_for(bool cpu, Effort effort) {
    if (effort == Effort::quick) return {{64, 48}, {640, 480}};
    Sizes sizes{{32, 24}, {64, 48}, {320, 240}, {640, 480}, {1021, 769}, {1280, 720}};
    if (cpu) sizes.insert(sizes.end(), {{48, 36}, {96, 72}, {160, 120}, {480, 360}, {960, 540}});
    if (effort == Effort::full) sizes.insert(sizes.end(), {{16, 16}, {8192, 8192}});
    if (!cpu || effort == Effort::full)
        sizes.insert(sizes.end(),
                     {{128, 96}, {1920, 1080}, {2240, 1260}, {2560, 1440}, {3840, 2160}, {4992, 3744}, {16384, 8192}});
    if (!cpu)
        sizes.insert(sizes.end(),
                     {{333, 250},   {1344, 756},  {1366, 768},  {1440, 810},  {1536, 864},  {1599, 901},  {1600, 900},
                      {1680, 945},  {1750, 1002}, {1760, 990},  {1919, 1079}, {2047, 1153}, {2501, 1667}, {2881, 1621},
                      {3200, 1800}, {3838, 2158}, {4416, 2944}, {4991, 3743}, {7999, 4001}, {10240, 5760}});
    return sizes;
}

/// Whether a default sweep below `full` has that image with these channels and coefficients. Colour images with
/// narrow and fractional coefficients come in all sizes, the rest in a few: the selectors need to see them, but
/// what changes with the size changes alike.
bool is_standard(std::pair<std::int64_t, std::int64_t> size, std::int64_t channels, Coefficients coefficients,
                 bool cpu) {
    using Size = std::pair<std::int64_t, std::int64_t>;
    const bool few = size == Size{64, 48} || size == Size{640, 480} || size == Size{3840, 2160};
    if (coefficients == Coefficients::int16) return channels == 3 && (!cpu || few || size == Size{1280, 720});
    constexpr Size kLarge[] = {{1280, 720},  {1920, 1080}, {2560, 1440}, {4416, 2944},
                               {4992, 3744}, {7999, 4001}, {16384, 8192}};
    const bool large = std::ranges::find(kLarge, size) != std::end(kLarge);
    return channels == 3 || few || (channels == 1 && (cpu || large));
}

std::vector<Problem> default_problems(DeviceKind kind, Effort effort) {
    const bool cpu = kind == DeviceKind::cpu;
    std::vector<Problem> problems;
    for (const auto& size : sizes_for(cpu, effort))
        for (const std::int64_t channels : {1, 3, 4})
            for (const auto coefficients : {Coefficients::narrow, Coefficients::float32, Coefficients::int16})
                if (effort == Effort::quick ? channels == 3 && coefficients != Coefficients::int16
                                            : effort == Effort::full || is_standard(size, channels, coefficients, cpu))
                    problems.push_back({size.first, size.second, channels, Border::mirror, coefficients});
    if (effort == Effort::quick) return problems;
    // These show the cost of the border, where it is a large and a small part of the image.
    for (const auto border : {Border::zero, Border::replicate}) {
        if (!cpu) problems.push_back({128, 96, 3, border, Coefficients::narrow});
        for (const auto& [width, height] : {std::pair{64, 48}, {1280, 720}})
            for (const auto coefficients : {Coefficients::narrow, Coefficients::float32})
                if (effort == Effort::full || (coefficients == Coefficients::narrow ? width == 64 : width > 64 && !cpu))
                    problems.push_back({width, height, 3, border, coefficients});
    }
    // The largest that leaves the scalar loops of a CPU their samples.
    if (cpu && effort == Effort::standard) problems.push_back({1920, 1080, 3, Border::mirror, Coefficients::narrow});
    return problems;
}

/// Empty, a single pixel, thinner than the taps' reach, and one less and more than every tile and step:
/// 8, 16, 32 and 64 values, 128 and 256 bytes, 16 and 32 columns, 8, 16, 32 and 36 rows, blocks of 2,048 values.
constexpr std::pair<std::int64_t, std::int64_t> kEdgeSizes[] = {
    {0, 3},   {3, 0},   {1, 1},   {2, 1},   {1, 2},    {2, 2},    {1, 7},   {7, 1},   {3, 2},    {4, 5},   {5, 4},
    {8, 3},   {12, 9},  {15, 17}, {16, 16}, {17, 15},  {20, 7},   {21, 8},  {31, 9},  {32, 8},   {33, 7},  {36, 37},
    {43, 3},  {63, 5},  {64, 6},  {65, 4},  {86, 2},   {127, 3},  {128, 8}, {129, 3}, {130, 35}, {255, 1}, {256, 4},
    {257, 6}, {521, 2}, {700, 3}, {1, 70},  {2049, 1}, {2053, 2}, {3, 133}, {9, 64},  {5, 65}};

std::vector<TypedEdgeCase<Problem>> edge_cases() {
    std::vector<TypedEdgeCase<Problem>> cases;
    for (const auto border : {Border::zero, Border::replicate, Border::mirror})
        for (const auto coefficients : {Coefficients::narrow, Coefficients::int16, Coefficients::float32}) {
            for (const auto& [width, height] : kEdgeSizes)
                for (const std::int64_t channels : {1, 3, 4})
                    cases.push_back({{width, height, channels, border, coefficients}});
            for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
                for (const std::int64_t channels : {1, 3, 4})
                    cases.push_back({{87, 41, channels, border, coefficients}, pattern});
        }
    return cases;
}

/// Images from icons to the sensors of medium-format cameras. Traces: screens, video, cameras, the source's image, and
/// what networks are trained on (MNIST, CIFAR-10, ImageNet).
Domain domain(DeviceKind kind) {
    const bool cpu = kind == DeviceKind::cpu;
    const std::vector<Aligned> widths{{16, 2}, {4, 1}, {1, 1}};
    return {
        .sizes = {{"width", cpu ? 16 : 32, cpu ? 8192 : 16384, widths}, {"height", cpu ? 16 : 32, cpu ? 8192 : 16384}},
        .alternatives = {{"channels", {{"1", 1}, {"3", 2}, {"4", 1}}},
                         {"border", {{"zero", 1}, {"replicate", 1}, {"mirror", 2}}},
                         {"coefficients", {{"narrow", 1}, {"int16", 1}, {"float32", 1}}}},
        .most_data_bytes = std::size_t{1} << (cpu ? 27 : 30),
        .most_ops = cpu ? 3e9 : 3e10,
        .traces = {"width=28;height=28;channels=1", "width=32;height=32;channels=3", "width=224;height=224",
                   "width=299;height=299",          "width=512;height=512",          "width=640;height=480",
                   "width=800;height=600",          "width=1024;height=768",         "width=1080;height=1920",
                   "width=1280;height=720",         "width=1280;height=1024",        "width=1366;height=768",
                   "width=1920;height=1080",        "width=2560;height=1440",        "width=2592;height=1944",
                   "width=3024;height=4032",        "width=3840;height=2160",        "width=4032;height=3024",
                   "width=4992;height=3744",        "width=6000;height=4000",        "width=8256;height=5504"}};
}

/// The lab's image, padded with zeros; its Laplace coefficients are narrow.
std::vector<PublishedTable<Problem>> published() {
    const Problem lab{4992, 3744, 3, Border::zero, Coefficients::narrow};
    return {{"C-1",
             {lab},
             {"cpu_scalar", "cpu_openmp_rows", "cpu_openmp_columns", "cpu_avx2_int16", "cpu_avx2_float",
              "cpu_avx2_int16_preconverted", "cpu_avx2_float_preconverted", "cpu_avx2_int16_shuffle"}},
            {"C-2",
             {lab},
             {"global", "global_blocks", "pre_extended", "shared_u8_int", "shared_u8_float", "shared_float",
              "shared_float_padded", "shared_float_32x8", "shared_vectorised"}}};
}

}  // namespace

Suite<Problem> suite() {
    return {.default_problems = default_problems,
            .edge_cases = edge_cases,
            .workload = make_workload<ImageWorkload>,
            .data_bytes = [](const Problem& problem) { return static_cast<std::size_t>(2 * problem.values()); },
            .domain = domain,
            .published = published};
}

}  // namespace espalier::bench::convolution_2d
