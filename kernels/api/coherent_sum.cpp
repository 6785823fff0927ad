#include "espalier/coherent_sum.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "kernels/api/planning.hpp"
#include "kernels/problems/coherent_sum.hpp"

namespace espalier::inline v1 {
namespace {

using coherent_sum::Buffers;
using coherent_sum::Delays;
using coherent_sum::Problem;

std::optional<Error> invalid_shape(const CoherentSumShape& shape) {
    const auto& [receivers, samples, sources, span, precision, delays] = shape;
    if (auto error = invalid_sizes({{"receivers", receivers}, {"samples", samples}, {"sources", sources}}))
        return error;
    if (auto error = invalid_sizes({{"receivers", receivers}, {"span", span}})) return error;
    constexpr std::int64_t kMaxSamples = std::numeric_limits<std::int32_t>::max();
    if (span > kMaxSamples || samples > kMaxSamples - span)
        return invalid("samples + span is " + std::to_string(samples) + " + " + std::to_string(span) +
                       ": sample numbers of 32 bits reach 2147483647; cut the record into shorter windows");
    if (precision != SumPrecision::single && precision != SumPrecision::half)
        return invalid("precision is none of the enumerators of espalier::SumPrecision");
    if (delays != DelayPattern::grid && delays != DelayPattern::scattered)
        return invalid("delays is none of the enumerators of espalier::DelayPattern");
    return std::nullopt;
}

Problem problem_of(const CoherentSumShape& shape, Coherence output) {
    return {.receivers = shape.receivers,
            .samples = shape.samples,
            .sources = shape.sources,
            .span = shape.span,
            .output = output,
            .delays = shape.delays == DelayPattern::grid ? Delays::cube : Delays::walk,
            .precision = shape.precision};
}

struct CoherentSumCall {
    Problem problem;

    [[nodiscard]] std::array<ArraySpec, 5> arrays() const {
        const bool keep_all = problem.output == Coherence::sums;
        return {input_of<float>("traces", problem.receivers * problem.trace_samples()),
                input_of<std::int32_t>("delays", problem.sources * problem.receivers),
                output_of<float>("sums", keep_all ? problem.sums() : 0),
                output_of<float>("maximum", keep_all ? 0 : problem.sources),
                output_of<std::int32_t>("sample", keep_all ? 0 : problem.sources)};
    }
    static Buffers bind(const Pointers<5>& at) {
        return {.traces = static_cast<const float*>(at[0]),
                .delays = static_cast<const std::int32_t*>(at[1]),
                .sums = static_cast<float*>(at[2]),
                .maximum = static_cast<float*>(at[3]),
                .maximum_sample = static_cast<std::int32_t*>(at[4])};
    }

    /// Whole numbers, whose sums single precision holds exactly; delays of a grid change slowly from one source to the
    /// next, as travel times do.
    [[nodiscard]] bool fill(std::size_t array, std::span<std::byte> values) const {
        const std::size_t count = values.size() / sizeof(float);
        for (std::size_t i = 0; i < count; ++i) {
            constexpr std::size_t kLevels = 256;
            const auto level = static_cast<float>((i * 2654435761U >> 7) % kLevels);
            const std::int32_t delay = delay_of(static_cast<std::int64_t>(i));
            std::memcpy(values.data() + i * sizeof level, array == 0 ? static_cast<const void*>(&level) : &delay,
                        sizeof level);
        }
        return true;
    }

    /// In half precision samples of nearly equal sums may change places.
    [[nodiscard]] bool agree(const TrialArrays&, const Outputs& expected, const Outputs& actual, Slack slack) const {
        constexpr double kLargest = 255;
        if (problem.precision == SumPrecision::half)
            slack.absolute += 2 * static_cast<double>(problem.receivers + 3) / 8000 * kLargest;
        const auto specs = arrays();
        const std::size_t compared = problem.precision == SumPrecision::half ? 4 : specs.size();
        for (std::size_t i = 2; i < compared; ++i)
            if (!same_results(specs[i], expected[i], actual[i], slack)) return false;
        return true;
    }

private:
    [[nodiscard]] std::int32_t delay_of(std::int64_t i) const {
        constexpr double kWavelength = 500;  // in sources
        const auto number = i / problem.receivers;
        const auto source = static_cast<double>(problem.delays == Delays::cube ? number : number * 7919 % 10007);
        const auto at = static_cast<double>(i % problem.receivers);
        return static_cast<std::int32_t>(static_cast<double>(problem.span) * 0.5 *
                                         (1 + std::sin(source / kWavelength + at)));
    }
};

/// A delay out of range would read outside the traces.
std::optional<Error> invalid_delays(const Problem& problem, const std::int32_t* delays, Memory memory) {
    if (memory == Memory::device || !delays) return std::nullopt;
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

Pointers<5> pointers(const float* traces, const std::int32_t* delays, const Outputs& to) {
    return {const_cast<float*>(traces), const_cast<std::int32_t*>(delays), to.sums, to.maximum, to.sample};
}

Result<void> sum(const Device& device, const CoherentSumShape& shape, Coherence output, const float* traces,
                 const std::int32_t* delays, const Outputs& to, const Options& options) {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_shape(shape)) return *error;
        const Problem problem = problem_of(shape, output);
        if (auto error = invalid_delays(problem, delays, options.memory)) return *error;
        return call_once(device, CoherentSumCall{problem}, pointers(traces, delays, to), options);
    });
}

Result<void> run(const Planned<CoherentSumCall>& planned, Coherence output, std::span<const float> traces,
                 std::span<const std::int32_t> delays, const Outputs& to, Stream stream,
                 std::span<std::byte> workspace) {
    const Problem& problem = planned.call.problem;
    if (problem.output != output)
        return invalid(std::string("the plan keeps ") + (output == Coherence::sums ? "maxima" : "all sums") +
                       ": run it with the arrays for these, or make another");
    if (auto error = other_sizes({{"traces.size()", std::ssize(traces), problem.receivers * problem.trace_samples()},
                                  {"delays.size()", std::ssize(delays), problem.sources * problem.receivers}}))
        return *error;
    if (auto error = invalid_delays(problem, delays.data(), planned.transport.memory)) return *error;
    return run_planned(planned, pointers(traces.data(), delays.data(), to), stream, workspace);
}

std::optional<Error> invalid_output(Coherence output) {
    if (output == Coherence::sums || output == Coherence::maximum) return std::nullopt;
    return invalid("output is none of the enumerators of espalier::Coherence");
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

Result<CoherentSumPlan> plan_coherent_sum(const Device& device, const CoherentSumShape& shape, Coherence output,
                                          const Options& options, const PlanOptions& planning) {
    return guarded([&]() -> Result<CoherentSumPlan> {
        if (auto error = invalid_shape(shape)) return *error;
        if (auto error = invalid_output(output)) return *error;
        return plan_call<CoherentSumPlan>(device, CoherentSumCall{problem_of(shape, output)}, options, planning);
    });
}

Result<void> CoherentSumPlan::run(std::span<const float> traces, std::span<const std::int32_t> delays,
                                  std::span<float> sums, Stream stream, std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<CoherentSumCall>(state());
        if (planned.call.problem.output == Coherence::sums)
            if (auto error = other_sizes({{"sums.size()", std::ssize(sums), planned.call.problem.sums()}}))
                return *error;
        return v1::run(planned, Coherence::sums, traces, delays, {.sums = sums.data()}, stream, workspace);
    });
}

Result<void> CoherentSumPlan::run(std::span<const float> traces, std::span<const std::int32_t> delays,
                                  std::span<float> maximum, std::span<std::int32_t> sample, Stream stream,
                                  std::span<std::byte> workspace) const {
    return guarded([&]() -> Result<void> {
        const auto& planned = planned_of<CoherentSumCall>(state());
        const std::int64_t sources = planned.call.problem.sources;
        if (auto error = other_sizes(
                {{"maximum.size()", std::ssize(maximum), sources}, {"sample.size()", std::ssize(sample), sources}}))
            return *error;
        return v1::run(planned, Coherence::maximum, traces, delays,
                       {.maximum = maximum.data(), .sample = sample.data()}, stream, workspace);
    });
}

Result<Explanation> explain_coherent_sum(const Device& device, const CoherentSumShape& shape, Coherence output,
                                         const Options& options) {
    return guarded([&]() -> Result<Explanation> {
        if (auto error = invalid_shape(shape)) return *error;
        if (auto error = invalid_output(output)) return *error;
        return explain(problem_of(shape, output), state_of(device), options);
    });
}

}  // namespace espalier::inline v1
