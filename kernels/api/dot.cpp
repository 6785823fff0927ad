#include "espalier/dot.hpp"

#include "kernels/api/planning.hpp"
#include "kernels/problems/dot.hpp"

namespace espalier::inline v1 {
namespace {

using dot::Buffers;
using dot::Problem;

struct DotCall {
    Problem problem;

    [[nodiscard]] std::array<ArraySpec, 3> arrays() const {
        return {input_of<float>("a", problem.elements), input_of<float>("b", problem.elements),
                output_of<float>("result", 1)};
    }
    static Buffers bind(const Pointers<3>& at) {
        return {static_cast<const float*>(at[0]), static_cast<const float*>(at[1]), static_cast<float*>(at[2])};
    }
};

Pointers<3> pointers(const float* a, const float* b, float* result) {
    return {const_cast<float*>(a), const_cast<float*>(b), result};
}

}  // namespace

Result<void> dot_product(const Device& device, const float* a, const float* b, std::int64_t elements, float* result,
                         const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_sizes({{"elements", elements}})) return *error;
        return call_once(device, DotCall{{elements}}, pointers(a, b, result), options);
    });
}

Result<DotProductPlan> plan_dot_product(const Device& device, std::int64_t elements, const Options& options,
                                        const PlanOptions& planning) {
    return guarded([&]() -> Result<DotProductPlan> {
        if (auto error = invalid_sizes({{"elements", elements}})) return *error;
        return plan_call<DotProductPlan>(device, DotCall{{elements}}, options, planning);
    });
}

Result<void> DotProductPlan::run(std::span<const float> a, std::span<const float> b, float* result, Stream stream,
                                 std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<DotCall>(state());
        const std::int64_t elements = planned.call.problem.elements;
        if (auto error = other_sizes({{"a.size()", std::ssize(a), elements}, {"b.size()", std::ssize(b), elements}}))
            return *error;
        return run_planned(planned, pointers(a.data(), b.data(), result), stream, workspace);
    });
}

Result<Explanation> explain_dot_product(const Device& device, std::int64_t elements, const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_sizes({{"elements", elements}})) return *error;
        return explain(Problem{elements}, state_of(device), options);
    });
}

}  // namespace espalier::inline v1
