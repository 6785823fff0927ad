#include "harness/cli/coherence_pipeline.hpp"

#include <algorithm>

#include "harness/cli/device_option.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/dispatch/explain.hpp"
#include "registries/coherent_sum/registry.hpp"
#include "registries/polyphase/registry.hpp"

namespace espalier::bench::cli {

CoherencePipeline::CoherencePipeline(const Device& device, const PipelineSettings& settings)
    : device_(device), settings_(settings) {
    full_ = plan_for(settings.window);
    last_ = plan_for(settings.last_window);
}

CoherencePipeline::Plan CoherencePipeline::plan_for(std::int64_t samples) const {
    const DeviceInfo& info = state_of(device_).info;
    const std::int64_t row = settings_.window + settings_.span;  // the same for all windows: delays count in it
    Plan plan;
    plan.sum = {settings_.receivers, samples, settings_.sources, settings_.span, Coherence::maximum};
    if (settings_.phases > 1) {
        // A receiver's copies together are its trace, the delays' span all that is not the window.
        plan.sum.span = settings_.phases * row - samples;
        plan.interpolation = {settings_.receivers, samples + settings_.span, settings_.window - samples,
                              settings_.phases};
        plan.interpolation_decision = value_or_fail(decide(plan.interpolation, info));
    }
    plan.decision = value_or_fail(decide(plan.sum, info, {.variant = settings_.variant}));
    return plan;
}

const CoherencePipeline::Plan& CoherencePipeline::plan_of(std::int64_t samples) const {
    return samples == settings_.window ? full_ : last_;
}

std::size_t CoherencePipeline::workspace_bytes() const {
    std::size_t most = 0;
    for (const Plan* plan : {&full_, &last_})
        if (const auto& workspace = plan->decision.entry->variant.workspace)
            most = std::max(most, workspace(plan->sum, plan->decision.configuration, state_of(device_).info));
    return most;
}

std::size_t CoherencePipeline::copies_bytes() const {
    return settings_.phases > 1 ? static_cast<std::size_t>(full_.interpolation.values()) * sizeof(float) : 0;
}

std::size_t CoherencePipeline::trace_bytes(std::int64_t samples) const {
    return static_cast<std::size_t>(settings_.receivers * (samples + settings_.span)) * sizeof(float);
}

void CoherencePipeline::run(Context& context, std::int64_t samples, coherent_sum::Buffers buffers,
                            float* copies) const {
    const Plan& plan = plan_of(samples);
    if (settings_.phases > 1) {
        const auto& decision = plan.interpolation_decision;
        decision.entry->variant.run(context, plan.interpolation, {.traces = buffers.traces, .copies = copies},
                                    decision.configuration);
        buffers.traces = copies;
    }
    plan.decision.entry->variant.run(context, plan.sum, buffers, plan.decision.configuration);
}

std::string CoherencePipeline::ran() const {
    const std::string configuration = full_.decision.configuration.text();
    return "coherent_sum/" + std::string(full_.decision.entry->variant.name) +
           (configuration.empty() ? "" : " (" + configuration + ")");
}

std::string CoherencePipeline::explanation() const {
    return value_or_fail(explain(full_.sum, state_of(device_).info, {.variant = settings_.variant})).text();
}

std::unique_ptr<CoherencePipeline> make_coherence_pipeline(const Device& device, const PipelineSettings& settings,
                                                           const std::int32_t* delays) {
    return device.is_cuda() ? make_gpu_pipeline(device, settings, delays) : make_cpu_pipeline(device, settings, delays);
}

}  // namespace espalier::bench::cli
