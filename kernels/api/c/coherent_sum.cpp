#include "espalier/c/arrays.h"
#include "kernels/api/c/call.hpp"

using namespace espalier;
using c::call;

namespace {

/// The only place that knows the strides.
CoherentSumShape shape_of(const espalier_coherent_sum_shape* given) {
    const auto shape = c::known(given, "shape");
    constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
    if (shape.samples > kMost || shape.span > kMost)
        throw InvalidCall("samples + span is more than the 2147483647 that sample numbers of 32 bits reach");
    c::check_stride(shape.trace_stride, shape.samples + shape.span, "shape.trace_stride");
    c::check_stride(shape.delay_stride, shape.receivers, "shape.delay_stride");
    c::check_stride(shape.sum_stride, shape.samples, "shape.sum_stride");
    return {.receivers = shape.receivers,
            .samples = shape.samples,
            .sources = shape.sources,
            .span = shape.span,
            .precision = c::enumerator(shape.precision, SumPrecision::half, "shape.precision", "PRECISION"),
            .delays = c::enumerator(shape.delays, DelayPattern::scattered, "shape.delays", "DELAYS")};
}

Coherence output_of(std::int32_t output) { return c::enumerator(output, Coherence::maximum, "output", "COHERENCE"); }

std::span<const float> traces_of(const CoherentSumShape& shape, const float* traces) {
    return c::span_of(traces, {{"receivers", shape.receivers}, {"samples + span", shape.samples + shape.span}});
}
std::span<const std::int32_t> delays_of(const CoherentSumShape& shape, const std::int32_t* delays) {
    return c::span_of(delays, {{"sources", shape.sources}, {"receivers", shape.receivers}});
}

constexpr const char* kMaker = "espalier_plan_coherent_sum()";

}  // namespace

espalier_status espalier_sum_coherently(const espalier_device* device, const espalier_coherent_sum_shape* shape,
                                        const float* traces, const std::int32_t* delays, float* sums,
                                        const espalier_options* options) noexcept {
    return call([&] {
        return sum_coherently(c::device_of(device), shape_of(shape), traces, delays, sums, c::options_of(options));
    });
}

espalier_status espalier_maximum_coherence(const espalier_device* device, const espalier_coherent_sum_shape* shape,
                                           const float* traces, const std::int32_t* delays, float* maximum,
                                           std::int32_t* sample, const espalier_options* options) noexcept {
    return call([&] {
        return maximum_coherence(c::device_of(device), shape_of(shape), traces, delays, maximum, sample,
                                 c::options_of(options));
    });
}

espalier_status espalier_plan_coherent_sum(const espalier_device* device, const espalier_coherent_sum_shape* shape,
                                           std::int32_t output, const espalier_options* options,
                                           espalier_plan** plan) noexcept {
    return call([&] {
        c::take_place(plan, "plan");
        return c::give_plan(plan_coherent_sum(c::device_of(device), shape_of(shape), output_of(output),
                                              c::options_of(options), c::plan_options_of(options)),
                            plan);
    });
}

espalier_status espalier_sum_coherently_run(const espalier_plan* plan, const espalier_coherent_sum_shape* shape,
                                            const float* traces, const std::int32_t* delays, float* sums, void* stream,
                                            void* workspace, std::size_t workspace_bytes) noexcept {
    return call([&] {
        const auto& planned = c::plan_of<CoherentSumPlan>(plan, kMaker);
        const CoherentSumShape size = shape_of(shape);
        return planned.run(traces_of(size, traces), delays_of(size, delays),
                           c::span_of(sums, {{"sources", size.sources}, {"samples", size.samples}}),
                           c::stream_of(stream), c::workspace_of(workspace, workspace_bytes));
    });
}

espalier_status espalier_maximum_coherence_run(const espalier_plan* plan, const espalier_coherent_sum_shape* shape,
                                               const float* traces, const std::int32_t* delays, float* maximum,
                                               std::int32_t* sample, void* stream, void* workspace,
                                               std::size_t workspace_bytes) noexcept {
    return call([&] {
        const auto& planned = c::plan_of<CoherentSumPlan>(plan, kMaker);
        const CoherentSumShape size = shape_of(shape);
        return planned.run(traces_of(size, traces), delays_of(size, delays),
                           c::span_of(maximum, {{"sources", size.sources}}),
                           c::span_of(sample, {{"sources", size.sources}}), c::stream_of(stream),
                           c::workspace_of(workspace, workspace_bytes));
    });
}

espalier_status espalier_explain_coherent_sum(const espalier_device* device, const espalier_coherent_sum_shape* shape,
                                              std::int32_t output, const espalier_options* options,
                                              char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        return c::give_text(
            explain_coherent_sum(c::device_of(device), shape_of(shape), output_of(output), c::options_of(options)),
            text);
    });
}
