#pragma once

#include <optional>

#include "kernels/api/arrays.hpp"
#include "kernels/api/checks.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/dispatch/dispatch.hpp"

namespace espalier {

/// What is wrong with the options for this device, or nothing.
std::optional<Error> invalid_options(const DeviceState& device, const Options& options);

/// Runs what was decided for a valid problem, on the current device.
template <class P, class Bind>
void run_decided(const DeviceState& state, const P& problem, const Decision<P>& decision, const Options& options,
                 Bind bind) {
    const Variant<P>& variant = decision.entry->variant;
    Arrays arrays(state, options);
    const auto buffers = bind(arrays);
    const std::size_t bytes = variant.workspace ? variant.workspace(problem, decision.configuration, state.info) : 0;
    Context context{state.info, options.stream, arrays.workspace(bytes)};
    variant.run(context, problem, buffers, decision.configuration);
    arrays.finish();
}

/// Chooses a variant for a valid problem and runs it. `bind(arrays)` returns the family's buffers with
/// every pointer passed through `arrays`.
template <class P, class Bind>
Result<void> run(const Device& device, const P& problem, const Options& options, Bind bind) {
    const DeviceState& state = state_of(device);
    if (auto error = invalid_options(state, options)) return *error;
    const auto decision = decide(problem, state.info, options);
    if (!decision) return decision.error();
    const CurrentDevice current(state);
    run_decided(state, problem, decision.value(), options, bind);
    return {};
}

}  // namespace espalier
