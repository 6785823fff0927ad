#include "espalier/c/traces.h"
#include "kernels/api/c/call.hpp"

using namespace espalier;
using c::call;

namespace {

InterpolationShape shape_of(const espalier_interpolation_shape* given) {
    const auto shape = c::known(given, "shape");
    return {shape.receivers, shape.samples, shape.padding, shape.phases};
}

}  // namespace

espalier_status espalier_interpolate_traces(const espalier_device* device, const espalier_interpolation_shape* shape,
                                            const float* traces, float* copies,
                                            const espalier_options* options) noexcept {
    return call([&] {
        return interpolate_traces(c::device_of(device), shape_of(shape), traces, copies, c::options_of(options));
    });
}

espalier_status espalier_plan_interpolate_traces(const espalier_device* device,
                                                 const espalier_interpolation_shape* shape,
                                                 const espalier_options* options, espalier_plan** plan) noexcept {
    return call([&] {
        c::take_place(plan, "plan");
        return c::give_plan(plan_interpolate_traces(c::device_of(device), shape_of(shape), c::options_of(options),
                                                    c::plan_options_of(options)),
                            plan);
    });
}

espalier_status espalier_interpolate_traces_run(const espalier_plan* plan, const espalier_interpolation_shape* shape,
                                                const float* traces, float* copies, void* stream, void* workspace,
                                                std::size_t workspace_bytes) noexcept {
    return call([&] {
        const auto& planned = c::plan_of<InterpolationPlan>(plan, "espalier_plan_interpolate_traces()");
        const InterpolationShape size = shape_of(shape);
        c::count_of({{"samples", size.samples}, {"padding", size.padding}});  // whose sum overflows nothing then
        const NamedSize receivers{"receivers", size.receivers};
        return planned.run(
            c::span_of(traces, {receivers, {"samples", size.samples}}),
            c::span_of(copies, {receivers, {"phases", size.phases}, {"samples + padding", size.pitch()}}),
            c::stream_of(stream), c::workspace_of(workspace, workspace_bytes));
    });
}

espalier_status espalier_explain_interpolate_traces(const espalier_device* device,
                                                    const espalier_interpolation_shape* shape,
                                                    const espalier_options* options, char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        return c::give_text(explain_interpolate_traces(c::device_of(device), shape_of(shape), c::options_of(options)),
                            text);
    });
}
