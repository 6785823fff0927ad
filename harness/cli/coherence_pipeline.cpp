#include "harness/cli/coherence_pipeline.hpp"

#include <algorithm>

#include "harness/cli/device_option.hpp"
#include "kernels/device_state.hpp"
#include "kernels/explain.hpp"

namespace espalier::cli {

CoherencePipeline::CoherencePipeline(const Device& device, const PipelineSettings& settings)
    : device_(device), settings_(settings) {
    full_ = value_or_fail(decide(problem_for(settings.window), state_of(device).info, settings.variant));
    last_ = value_or_fail(decide(problem_for(settings.last_window), state_of(device).info, settings.variant));
}

coherent_sum::Problem CoherencePipeline::problem_for(std::int64_t samples) const {
    return {settings_.receivers, samples, settings_.sources, settings_.span, Coherence::maximum};
}

const CoherencePipeline::Decided& CoherencePipeline::decision_for(std::int64_t samples) const {
    return samples == settings_.window ? full_ : last_;
}

std::size_t CoherencePipeline::workspace_bytes() const {
    std::size_t most = 0;
    for (const std::int64_t samples : {settings_.window, settings_.last_window}) {
        const Decided& decided = decision_for(samples);
        const auto& workspace = decided.entry->variant.workspace;
        if (workspace)
            most = std::max(most, workspace(problem_for(samples), decided.configuration, state_of(device_).info));
    }
    return most;
}

std::size_t CoherencePipeline::trace_bytes() const {
    return static_cast<std::size_t>(problem_for(settings_.window).trace_bytes());
}

std::string CoherencePipeline::ran() const {
    const std::string configuration = full_.configuration.text();
    return "coherent_sum/" + std::string(full_.entry->variant.name) +
           (configuration.empty() ? "" : " (" + configuration + ")");
}

std::string CoherencePipeline::explanation() const {
    return value_or_fail(explain(problem_for(settings_.window), state_of(device_).info, settings_.variant)).text();
}

std::unique_ptr<CoherencePipeline> make_coherence_pipeline(const Device& device, const PipelineSettings& settings,
                                                           const std::int32_t* delays) {
    return device.is_cuda() ? make_gpu_pipeline(device, settings, delays) : make_cpu_pipeline(device, settings, delays);
}

}  // namespace espalier::cli
