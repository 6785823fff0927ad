#include "espalier/coherent_sum.hpp"

#include <algorithm>
#include <limits>
#include <span>

#include "kernels/api/checks.hpp"
#include "kernels/api/run.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/problems/coherent_sum.hpp"

namespace espalier::inline v0 {
namespace {

using coherent_sum::Buffers;
using coherent_sum::Problem;

std::optional<Error> invalid_shape(const CoherentSumShape& shape) {
    const auto& [receivers, samples, sources, span] = shape;
    if (auto error = invalid_sizes({{"receivers", receivers}, {"samples", samples}, {"sources", sources}}))
        return error;
    if (auto error = invalid_sizes({{"receivers", receivers}, {"span", span}})) return error;
    constexpr std::int64_t kMaxSamples = std::numeric_limits<std::int32_t>::max();
    if (span > kMaxSamples || samples > kMaxSamples - span)
        return invalid("samples + span is " + std::to_string(samples) + " + " + std::to_string(span) +
                       ": sample numbers of 32 bits reach 2147483647; cut the record into shorter windows");
    return std::nullopt;
}

Problem problem_of(const CoherentSumShape& shape, Coherence output) {
    return {shape.receivers, shape.samples, shape.sources, shape.span, output};
}

/// A delay out of range would read outside the traces.
std::optional<Error> invalid_delays(const Problem& problem, const std::int32_t* delays, const Options& options) {
    if (options.memory == Memory::device) return std::nullopt;
    const std::span all(delays, static_cast<std::size_t>(problem.sources * problem.receivers));
    const auto wrong = std::ranges::find_if(all, [&](std::int32_t d) { return d < 0 || d > problem.span; });
    if (wrong == all.end()) return std::nullopt;
    const std::int64_t at = wrong - all.begin();
    return invalid("the delay of source " + std::to_string(at / problem.receivers) + " at receiver " +
                   std::to_string(at % problem.receivers) + " is " + std::to_string(*wrong) + ", not in 0.." +
                   std::to_string(problem.span));
}

/// Where the results of either output go; the other's pointers are null.
struct Outputs {
    float* sums = nullptr;
    float* maximum = nullptr;
    std::int32_t* sample = nullptr;
};

Result<void> sum(const Device& device, const CoherentSumShape& shape, Coherence output, const float* traces,
                 const std::int32_t* delays, const Outputs& to, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(shape)) return *error;
        const Problem problem = problem_of(shape, output);
        const bool keep_all = output == Coherence::sums;
        const std::int64_t trace_values = problem.receivers * problem.trace_samples(),
                           delay_values = problem.sources * problem.receivers, sums = keep_all ? problem.sums() : 0,
                           maxima = keep_all ? 0 : problem.sources;
        if (auto error = invalid_arrays(
                {input_array("traces", traces, trace_values), input_array("delays", delays, delay_values),
                 output_array("sums", to.sums, sums), output_array("maximum", to.maximum, maxima),
                 output_array("sample", to.sample, maxima)}))
            return *error;
        if (auto error = invalid_delays(problem, delays, options)) return *error;
        return run(device, problem, options, [&](Arrays& arrays) -> Buffers {
            return {.traces = arrays.input(traces, trace_values),
                    .delays = arrays.input(delays, delay_values),
                    .sums = arrays.output(to.sums, sums),
                    .maximum = arrays.output(to.maximum, maxima),
                    .maximum_sample = arrays.output(to.sample, maxima)};
        });
    });
}

}  // namespace

Result<void> sum_coherently(const Device& device, const CoherentSumShape& shape, const float* traces,
                            const std::int32_t* delays, float* sums, const Options& options) {
    return sum(device, shape, Coherence::sums, traces, delays, {.sums = sums}, options);
}

Result<void> maximum_coherence(const Device& device, const CoherentSumShape& shape, const float* traces,
                               const std::int32_t* delays, float* maximum, std::int32_t* sample,
                               const Options& options) {
    return sum(device, shape, Coherence::maximum, traces, delays, {.maximum = maximum, .sample = sample}, options);
}

Result<Explanation> explain_coherent_sum(const Device& device, const CoherentSumShape& shape, Coherence output,
                                         const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_shape(shape)) return *error;
        if (output != Coherence::sums && output != Coherence::maximum)
            return invalid("output is none of the enumerators of espalier::Coherence");
        return explain(problem_of(shape, output), state_of(device).info, options);
    });
}

}  // namespace espalier::inline v0
