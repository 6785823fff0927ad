#include "espalier/c/arrays.h"
#include "kernels/api/c/call.hpp"

using namespace espalier;
using c::call;

espalier_status espalier_dot_product(const espalier_device* device, std::int64_t elements, const float* a,
                                     const float* b, float* result, const espalier_options* options) noexcept {
    return call([&] { return dot_product(c::device_of(device), a, b, elements, result, c::options_of(options)); });
}

espalier_status espalier_plan_dot_product(const espalier_device* device, std::int64_t elements,
                                          const espalier_options* options, espalier_plan** plan) noexcept {
    return call([&] {
        c::take_place(plan, "plan");
        return c::give_plan(
            plan_dot_product(c::device_of(device), elements, c::options_of(options), c::plan_options_of(options)),
            plan);
    });
}

espalier_status espalier_dot_product_run(const espalier_plan* plan, std::int64_t elements, const float* a,
                                         const float* b, float* result, void* stream, void* workspace,
                                         std::size_t workspace_bytes) noexcept {
    return call([&] {
        return c::plan_of<DotProductPlan>(plan, "espalier_plan_dot_product()")
            .run(c::span_of(a, {{"elements", elements}}), c::span_of(b, {{"elements", elements}}), result,
                 c::stream_of(stream), c::workspace_of(workspace, workspace_bytes));
    });
}

espalier_status espalier_explain_dot_product(const espalier_device* device, std::int64_t elements,
                                             const espalier_options* options, char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        return c::give_text(explain_dot_product(c::device_of(device), elements, c::options_of(options)), text);
    });
}
