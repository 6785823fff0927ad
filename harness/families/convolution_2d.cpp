#include "reference_cpu/convolution_2d.hpp"

#include <algorithm>
#include <optional>
#include <random>

#include "harness/families/suite.hpp"
#include "variants/convolution_2d/problem.hpp"

namespace espalier::convolution_2d {
namespace {

Filter5x5 filter_for(Coefficients kind, std::mt19937_64& random) {
    Filter5x5 filter{};
    if (kind == Coefficients::narrow) {  // Laplace, the source's own
        filter.fill(-1);
        filter[12] = 24;
    } else if (kind == Coefficients::int16) {
        std::uniform_int_distribution<int> any(-32768, 32767);
        for (float& c : filter) c = static_cast<float>(any(random));
        filter[0] = 32767, filter[1] = -32768;  // surely not narrow
    } else {
        std::uniform_real_distribution<float> any(-0.25F, 0.25F);
        for (float& c : filter) c = any(random);
        filter[12] = 0.5F;
    }
    return filter;
}

/// Uniform: random bytes. Constant: all 255. Ascending and descending: ramps along the rows.
/// Special: only 0 and 255, which saturate most.
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
        for (std::size_t i = 0; i < actual.size(); ++i)
            if (std::abs(int{actual[i]} - int{(*expected_)[i]}) > allowed) return {describe(i, actual[i])};
        return {};
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
        for (std::size_t i = 0; i < image_.size(); ++i) image_[i] = value(i, random);
        expected_.reset();
    }

private:
    std::uint8_t value(std::size_t i, std::mt19937_64& random) const {
        switch (pattern_) {
            case Pattern::constant: return 255;
            case Pattern::ascending: return static_cast<std::uint8_t>(i);
            case Pattern::descending: return static_cast<std::uint8_t>(255 - i % 256);
            case Pattern::special: return random() & 1 ? 255 : 0;
            case Pattern::uniform: break;
        }
        return static_cast<std::uint8_t>(random());
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
    std::vector<std::uint8_t> image_;
    std::optional<std::vector<std::uint8_t>> expected_;
};

std::vector<Problem> default_problems(DeviceKind kind, Effort effort) {
    std::vector<Problem> problems;
    const bool cpu = kind == DeviceKind::cpu;
    std::vector<std::pair<std::int64_t, std::int64_t>> sizes{{64, 48}, {640, 480}, {1920, 1080}};
    if (effort != Effort::quick) sizes.insert(sizes.end(), {{320, 240}, {1280, 720}});
    if (effort == Effort::full || !cpu) sizes.insert(sizes.end(), {{4992, 3744}, {16384, 8192}});
    for (const auto& [width, height] : sizes)
        for (const std::int64_t channels : {1, 3, 4})
            for (const auto coefficients : {Coefficients::narrow, Coefficients::float32})
                problems.push_back({width, height, channels, Border::mirror, coefficients});
    return problems;
}

std::vector<TypedEdgeCase<Problem>> edge_cases() {
    std::vector<TypedEdgeCase<Problem>> cases;
    for (const auto border : {Border::zero, Border::replicate, Border::mirror})
        for (const auto coefficients : {Coefficients::narrow, Coefficients::int16, Coefficients::float32}) {
            // Empty, single, thinner than the radius, around the tiles of 16 and 32, and odd sizes.
            for (const auto& [width, height] : {std::pair{0, 3},
                                                {3, 0},
                                                {1, 1},
                                                {2, 1},
                                                {1, 7},
                                                {3, 2},
                                                {16, 16},
                                                {17, 15},
                                                {31, 9},
                                                {33, 7},
                                                {37, 23}})
                for (const std::int64_t channels : {1, 3, 4})
                    cases.push_back({{width, height, channels, border, coefficients}});
            for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::special})
                cases.push_back({{35, 18, 3, border, coefficients}, pattern});
        }
    return cases;
}

}  // namespace

Suite<Problem> suite() {
    return {.default_problems = default_problems,
            .edge_cases = edge_cases,
            .workload = [](const Problem& problem, std::uint64_t seed,
                           Pattern pattern) -> std::unique_ptr<Workload<Problem>> {
                return std::make_unique<ImageWorkload>(problem, seed, pattern);
            },
            .data_bytes = [](const Problem& problem) { return static_cast<std::size_t>(2 * problem.values()); }};
}

}  // namespace espalier::convolution_2d
