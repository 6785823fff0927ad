#include "reference_cpu/travel_time.hpp"

#include <cmath>
#include <memory>

#include "harness/base/random.hpp"
#include "harness/bench/families/suite.hpp"
#include "kernels/problems/travel_time.hpp"

namespace espalier::bench::travel_time {

using namespace ::espalier::travel_time;

namespace {

/// Uniform: receivers anywhere in a square of 2 km. Constant: all on the grid's first node, so that delays of 0
/// occur. Ascending, descending: on a line through the first row's nodes, at whole metres and half a sample each, so
/// that every other delay of that row is a tie of rounding. Special: a thousand kilometres away, as with map
/// coordinates, whose differences single precision would lose.
class ReceiversWorkload final : public Workload<Problem> {
public:
    ReceiversWorkload(const Problem& problem, std::uint64_t seed, Pattern pattern)
        : problem_(problem), pattern_(pattern) {
        model_.phase_samples = 1000;
        const bool ties = pattern == Pattern::ascending || pattern == Pattern::descending;
        model_.samples_per_metre = ties ? 0.5 : 500.0 / 2500.0;
        const double offset = pattern == Pattern::special ? 1e6 : 0;
        for (int axis = 0; axis < 3; ++axis) {
            model_.origin[axis] = ties ? 0 : offset + 100.0 * (axis + 1);
            model_.spacing[axis] = ties ? 1 : 20.0 + axis;
        }
        refresh(seed);
    }

    std::vector<std::span<const std::byte>> inputs() const override { return {bytes_of(receivers_)}; }
    std::vector<std::size_t> output_bytes() const override {
        return {static_cast<std::size_t>(problem_.delays()) * sizeof(std::int32_t)};
    }

    Buffers bind(std::span<const std::byte* const> in, std::span<std::byte* const> out) const override {
        return {.receivers = reinterpret_cast<const double*>(in[0]),
                .receivers_on_host = receivers_.data(),
                .delays = reinterpret_cast<std::int32_t*>(out[0]),
                .model = model_};
    }

    Mismatch check(std::span<const std::span<const std::byte>> outputs, const Tolerance&) override {
        const auto delays = values_of<std::int32_t>(outputs[0]);
        for (std::int64_t i = 0; i < problem_.delays(); ++i) {
            const std::int64_t source = i / problem_.receivers, r = i % problem_.receivers;
            const std::int64_t node[3] = {source % problem_.columns, source / problem_.columns % problem_.rows,
                                          source / problem_.columns / problem_.rows};
            const double steps = reference::travel_samples(model_.origin, model_.spacing, node,
                                                           receivers_.data() + 3 * r, model_.samples_per_metre) *
                                 static_cast<double>(problem_.phases);
            const std::int32_t actual = delays[static_cast<std::size_t>(i)];
            // Where rounding errors of double precision decide between two numbers, both are right.
            if (actual != delay(steps, 0) && actual != delay(steps, slack(node)) &&
                actual != delay(steps, -slack(node)))
                return {"the delay of source " + std::to_string(source) + " at receiver " + std::to_string(r) + " is " +
                        std::to_string(actual) + ", expected " + std::to_string(delay(steps, 0)) + ", from " +
                        std::to_string(steps) + " steps"};
        }
        return {};
    }

    void refresh(std::uint64_t seed) override {
        receivers_.resize(static_cast<std::size_t>(3 * problem_.receivers));
        generate(receivers_, [&](std::size_t i) {
            const auto axis = static_cast<int>(i % 3);
            const auto number = static_cast<double>(i / 3);
            switch (pattern_) {
                case Pattern::constant: return model_.origin[axis];
                case Pattern::ascending: return axis == 0 ? number : 0.0;
                case Pattern::descending: return axis == 0 ? -number : 0.0;
                case Pattern::special:
                case Pattern::uniform: break;
            }
            const double uniform = static_cast<double>(random_bits(seed, i) >> 11) * 0x1p-53;
            return model_.origin[axis] + (axis == 2 ? 10 : 2000) * (uniform - 0.5);
        });
    }

private:
    std::int32_t delay(double steps, double slack) const {
        const auto rounded = static_cast<std::int64_t>(std::floor(steps + 0.5 + slack));
        if (problem_.phases == 1) return static_cast<std::int32_t>(rounded);
        return static_cast<std::int32_t>(rounded % problem_.phases * model_.phase_samples + rounded / problem_.phases);
    }

    /// None where everything is exact: on the line of whole metres.
    double slack(const std::int64_t* node) const {
        const bool ties = pattern_ == Pattern::ascending || pattern_ == Pattern::descending;
        return ties && node[1] == 0 && node[2] == 0 ? 0 : 1e-7;
    }

    Problem problem_;
    Pattern pattern_;
    Model model_;
    std::vector<double> receivers_;
};

std::vector<Problem> default_problems(DeviceKind kind, Effort effort) {
    std::vector<Problem> problems{{256, 3, 3, 3, 1}, {256, 10, 10, 10, 1}};
    if (effort == Effort::quick) return problems;
    for (const std::int64_t receivers : {256, 1920, 2048})
        for (const std::int64_t edge : {10, 15, 25, 33})
            if (kind == DeviceKind::cuda || edge < 20) problems.push_back({receivers, edge, edge, edge, 1});
    problems.push_back({1920, 10, 10, 10, 8});
    return problems;
}

std::vector<TypedEdgeCase<Problem>> edge_cases() {
    std::vector<TypedEdgeCase<Problem>> cases;
    for (const std::int64_t receivers : {0, 1, 31, 32, 33, 63, 64, 65, 255, 256, 257, 2560, 2561})
        cases.push_back({{receivers, 2, 2, 1, 1}});
    for (const std::int64_t edge : {0, 1, 2, 3}) cases.push_back({{5, edge, 3, 2, 1}});
    cases.push_back({{3, 4, 0, 2, 1}});
    cases.push_back({{3, 4, 5, 0, 1}});
    for (const std::int64_t phases : {2, 3, 8, 16}) cases.push_back({{40, 3, 2, 4, phases}});
    for (const auto pattern : {Pattern::constant, Pattern::ascending, Pattern::descending, Pattern::special}) {
        cases.push_back({{50, 7, 2, 3, 1}, pattern});
        cases.push_back({{50, 7, 2, 3, 4}, pattern});
    }
    return cases;
}

/// The source's first stage, once for all trial sources: S1's grid and S5's two.
std::vector<PublishedTable<Problem>> published() {
    return {{"S-times",
             {{1920, 10, 10, 10, 1}, {1920, 25, 25, 25, 1}, {1920, 30, 30, 30, 1}},
             {"constant_memory", "global", "cpu_scalar"}}};
}

}  // namespace

Suite<Problem> suite() {
    return {.default_problems = default_problems,
            .edge_cases = edge_cases,
            .workload = make_workload<ReceiversWorkload>,
            .data_bytes =
                [](const Problem& problem) {
                    return static_cast<std::size_t>(24 * problem.receivers + 4 * problem.delays());
                },
            .published = published};
}

}  // namespace espalier::bench::travel_time
