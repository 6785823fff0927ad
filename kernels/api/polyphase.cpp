#include "espalier/polyphase.hpp"

#include "kernels/api/planning.hpp"
#include "kernels/problems/polyphase.hpp"

namespace espalier::inline v1 {
namespace {

using polyphase::Buffers;
using polyphase::Problem;

std::optional<Error> invalid_shape(const InterpolationShape& shape) {
    if (shape.phases < 1) return invalid("phases is " + std::to_string(shape.phases) + ": there is at least one");
    if (auto error = invalid_sizes({{"samples", shape.samples}, {"padding", shape.padding}})) return error;
    constexpr std::int64_t kMost = std::int64_t{1} << 62;
    if (shape.samples > kMost - shape.padding) return invalid("samples + padding is more than memory can hold");
    return invalid_sizes(
        {{"receivers", shape.receivers}, {"phases", shape.phases}, {"samples + padding", shape.pitch()}});
}

struct InterpolationCall {
    Problem problem;

    [[nodiscard]] std::array<ArraySpec, 2> arrays() const {
        return {input_of<float>("traces", problem.receivers * problem.samples),
                output_of<float>("copies", problem.values())};
    }
    static Buffers bind(const Pointers<2>& at) {
        return {static_cast<const float*>(at[0]), static_cast<float*>(at[1])};
    }
};

Problem problem_of(const InterpolationShape& shape) {
    return {shape.receivers, shape.samples, shape.padding, shape.phases};
}

Pointers<2> pointers(const float* traces, float* copies) { return {const_cast<float*>(traces), copies}; }

}  // namespace

Result<void> interpolate_traces(const Device& device, const InterpolationShape& shape, const float* traces,
                                float* copies, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(shape)) return *error;
        return call_once(device, InterpolationCall{problem_of(shape)}, pointers(traces, copies), options);
    });
}

Result<InterpolationPlan> plan_interpolate_traces(const Device& device, const InterpolationShape& shape,
                                                  const Options& options, const PlanOptions& planning) {
    return guarded([&]() -> Result<InterpolationPlan> {
        if (auto error = invalid_shape(shape)) return *error;
        return plan_call<InterpolationPlan>(device, InterpolationCall{problem_of(shape)}, options, planning);
    });
}

Result<void> InterpolationPlan::run(std::span<const float> traces, std::span<float> copies, Stream stream,
                                    std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<InterpolationCall>(state());
        const Problem& problem = planned.call.problem;
        if (auto error = other_sizes({{"traces.size()", std::ssize(traces), problem.receivers * problem.samples},
                                      {"copies.size()", std::ssize(copies), problem.values()}}))
            return *error;
        return run_planned(planned, pointers(traces.data(), copies.data()), stream, workspace);
    });
}

Result<Explanation> explain_interpolate_traces(const Device& device, const InterpolationShape& shape,
                                               const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_shape(shape)) return *error;
        return explain(problem_of(shape), state_of(device), options);
    });
}

}  // namespace espalier::inline v1
