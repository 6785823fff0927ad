#include "harness/apps/sessions/coherence_pipeline.hpp"

#include <algorithm>
#include <utility>

#include "harness/apps/sessions/what_runs.hpp"
#include "harness/base/failure.hpp"

namespace espalier::bench::apps {

CoherencePipeline::CoherencePipeline(const Device& device, const PipelineSettings& settings)
    : device_(device), settings_(settings), full_(plans_for(settings.window)), last_(plans_for(settings.last_window)) {}

CoherencePipeline::Plans CoherencePipeline::plans_for(std::int64_t samples) const {
    const Memory memory = device_.is_cuda() ? Memory::device : Memory::host;
    CoherentSumShape shape{.receivers = settings_.receivers,
                           .samples = samples,
                           .sources = settings_.sources,
                           .span = settings_.span,
                           .precision = settings_.precision};
    std::optional<InterpolationPlan> interpolation;
    if (settings_.phases > 1) {
        const std::int64_t row = settings_.window + settings_.span;  // the same for all windows: delays count in it
        // A receiver's copies together are its trace, the delays' span all that is not the window.
        shape.span = settings_.phases * row - samples;
        shape.delays = DelayPattern::scattered;  // a fraction more leads to another copy
        interpolation = value_or_fail(plan_interpolate_traces(
            device_, {settings_.receivers, samples + settings_.span, settings_.window - samples, settings_.phases},
            {.memory = memory}));
    }
    return {shape,
            value_or_fail(plan_coherent_sum(device_, shape, settings_.keep_sums ? Coherence::sums : Coherence::maximum,
                                            {.memory = memory, .variant = settings_.variant})),
            std::move(interpolation)};
}

const CoherencePipeline::Plans& CoherencePipeline::plans_of(std::int64_t samples) const {
    return samples == settings_.window ? full_ : last_;
}

void CoherencePipeline::set_last_window(std::int64_t samples) {
    last_ = plans_for(samples);
    grow_workspace();
}

std::size_t CoherencePipeline::workspace_bytes() const {
    std::size_t most = 0;
    for (const Plans* plans : {&full_, &last_}) {
        most = std::max(most, plans->sum.workspace_bytes());
        if (plans->interpolation) most = std::max(most, plans->interpolation->workspace_bytes());
    }
    return most;
}

std::size_t CoherencePipeline::copies_bytes() const {
    if (settings_.phases == 1) return 0;
    return static_cast<std::size_t>(settings_.receivers * settings_.phases * (settings_.window + settings_.span)) *
           sizeof(float);
}

std::size_t CoherencePipeline::trace_bytes(std::int64_t samples) const {
    return static_cast<std::size_t>(settings_.receivers * (samples + settings_.span)) * sizeof(float);
}

std::size_t CoherencePipeline::sums_bytes(std::int64_t samples) const {
    return settings_.keep_sums ? static_cast<std::size_t>(settings_.sources * samples) * sizeof(float) : 0;
}

void CoherencePipeline::run(std::int64_t samples, const RunMemory& memory, espalier::Stream stream) const {
    const auto& [shape, sum, interpolation] = plans_of(samples);
    const auto receivers = static_cast<std::size_t>(settings_.receivers),
               sources = static_cast<std::size_t>(settings_.sources);
    const float* traces = memory.traces;
    const std::size_t summed = receivers * static_cast<std::size_t>(shape.samples + shape.span);
    if (interpolation) {
        const std::size_t read = receivers * static_cast<std::size_t>(samples + settings_.span);
        succeed_or_fail(interpolation->run({traces, read}, {memory.copies, summed}, stream, memory.workspace));
        traces = memory.copies;
    }
    const std::span<const float> inputs{traces, summed};
    const std::span<const std::int32_t> delays{memory.delays, sources * receivers};
    if (settings_.keep_sums)
        succeed_or_fail(sum.run(inputs, delays, {memory.sums, sources * static_cast<std::size_t>(samples)}, stream,
                                memory.workspace));
    else
        succeed_or_fail(
            sum.run(inputs, delays, {memory.maximum, sources}, {memory.sample, sources}, stream, memory.workspace));
}

std::string CoherencePipeline::ran() const { return what_runs(value_or_fail(full_.sum.explain())); }

std::string CoherencePipeline::explanation() const { return value_or_fail(full_.sum.explain()).text(); }

void find_peaks(std::span<const float> sums, std::span<float> maximum, std::span<std::int32_t> sample) {
    const std::size_t row = sums.size() / maximum.size();
#pragma omp parallel for
    for (std::size_t source = 0; source < maximum.size(); ++source) {
        const auto of_source = sums.subspan(source * row, row);
        const auto best = std::max_element(of_source.begin(), of_source.end());
        maximum[source] = *best;
        sample[source] = static_cast<std::int32_t>(best - of_source.begin());
    }
}

std::unique_ptr<CoherencePipeline> make_coherence_pipeline(const Device& device, const PipelineSettings& settings,
                                                           const std::int32_t* delays) {
    return device.is_cuda() ? make_gpu_pipeline(device, settings, delays) : make_cpu_pipeline(device, settings, delays);
}

}  // namespace espalier::bench::apps
