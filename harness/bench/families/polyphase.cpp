#include "reference_cpu/polyphase.hpp"

#include <cmath>
#include <memory>

#include "harness/base/random.hpp"
#include "harness/bench/families/suite.hpp"
#include "kernels/problems/polyphase.hpp"

namespace espalier::bench::polyphase {

using namespace ::espalier::polyphase;

namespace {

/// Uniform: -1..1. Constant: ones. Ascending, descending: ramps. Special: signed zeros, denormals and large values.
class TracesWorkload final : public Workload<Problem> {
public:
    TracesWorkload(const Problem& problem, std::uint64_t seed, Pattern pattern) : problem_(problem), pattern_(pattern) {
        refresh(seed);
    }

    std::vector<std::span<const std::byte>> inputs() const override { return {bytes_of(traces_)}; }

    std::vector<std::size_t> output_bytes() const override {
        return {static_cast<std::size_t>(problem_.values()) * sizeof(float)};
    }

    Buffers bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) const override {
        return {.traces = reinterpret_cast<const float*>(in[0]), .copies = reinterpret_cast<float*>(out[0])};
    }

    Mismatch check(std::span<const std::span<const std::byte>> outputs, const Tolerance& tolerance) override {
        const auto copies = values_of<float>(outputs[0]);
        const auto samples = static_cast<std::size_t>(problem_.samples);
        for (std::int64_t r = 0; r < problem_.receivers; ++r) {
            const auto trace = std::span(traces_).subspan(static_cast<std::size_t>(r) * samples, samples);
            for (std::int64_t p = 0; p < problem_.phases; ++p)
                for (std::size_t k = 0; k < static_cast<std::size_t>(problem_.pitch()); ++k) {
                    const auto at = static_cast<std::size_t>((r * problem_.phases + p) * problem_.pitch()) + k;
                    if (k >= samples && copies[at] == 0) continue;
                    if (k >= samples) return {"what follows a copy at " + std::to_string(at) + " is not 0"};
                    const double share = static_cast<double>(p) / static_cast<double>(problem_.phases);
                    const double expected = reference::between_samples(trace, static_cast<double>(k) + share);
                    const float next = trace[k + 1 < samples ? k + 1 : k];
                    const double scale = static_cast<double>(std::abs(trace[k])) + static_cast<double>(std::abs(next));
                    // The last digit of denormals is worth what it is.
                    if (std::abs(static_cast<double>(copies[at]) - expected) <= tolerance.relative * scale + 3e-45)
                        continue;
                    return {"receiver " + std::to_string(r) + ", phase " + std::to_string(p) + ", sample " +
                            std::to_string(k) + " is " + std::to_string(copies[at]) + ", expected " +
                            std::to_string(expected)};
                }
        }
        return {};
    }

    void refresh(std::uint64_t seed) override {
        traces_.resize(static_cast<std::size_t>(problem_.receivers * problem_.samples));
        generate(traces_, [&](std::size_t i) { return value(i, random_bits(seed, i)); });
    }

private:
    float value(std::size_t i, std::uint64_t bits) const {
        constexpr float kSpecial[] = {0.0F, -0.0F, 1e-42F, -1e-42F, 1e30F, -1e30F, 3e38F, -3e38F};
        switch (pattern_) {
            case Pattern::constant: return 1;
            case Pattern::ascending: return static_cast<float>(i);
            case Pattern::descending: return -static_cast<float>(i);
            case Pattern::special: return kSpecial[bits % std::size(kSpecial)];
            case Pattern::uniform: break;
        }
        return static_cast<float>(static_cast<std::int32_t>(bits >> 32)) * 0x1p-31F;
    }

    Problem problem_;
    Pattern pattern_;
    std::vector<float> traces_;
};

std::vector<Problem> default_problems(DeviceKind kind, Effort effort) {
    std::vector<Problem> problems{{16, 700, 0, 8}, {256, 1500, 0, 8}};
    if (effort == Effort::quick) return problems;
    for (const std::int64_t phases : {4, 8}) problems.push_back({256, 12500, 0, phases});
    if (kind == DeviceKind::cuda) problems.push_back({1920, 12500, 0, 8});
    return problems;
}

std::vector<TypedEdgeCase<Problem>> edge_cases() {
    std::vector<TypedEdgeCase<Problem>> cases;
    for (const std::int64_t samples : {0, 1, 2, 31, 32, 33, 255, 256, 257, 1025})
        for (const std::int64_t padding : {0, 5}) cases.push_back({{3, samples, padding, 4}});
    for (const std::int64_t receivers : {0, 1, 2, 33}) cases.push_back({{receivers, 20, 1, 8}});
    for (const std::int64_t phases : {0, 1, 2, 3, 16}) cases.push_back({{4, 50, 14, phases}});
    for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special})
        cases.push_back({{5, 300, 10, 8}, pattern});
    return cases;
}

}  // namespace

Suite<Problem> suite() {
    return {.default_problems = default_problems,
            .edge_cases = edge_cases,
            .workload = make_workload<TracesWorkload>,
            .data_bytes = [](const Problem& problem) {
                return static_cast<std::size_t>(4 * (problem.receivers * problem.samples + problem.values()));
            }};
}

}  // namespace espalier::bench::polyphase
