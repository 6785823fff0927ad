#pragma once

#include <optional>

#include "kernels/api/arrays.hpp"
#include "kernels/api/checks.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/dispatch/dispatch.hpp"

namespace espalier {

/// What is wrong with the options for this device, or nothing.
std::optional<Error> invalid_options(const DeviceState& device, const Options& options);

/// Chooses a variant for a valid problem and runs it. `bind(arrays)` returns the family's buffers with
/// every pointer passed through `arrays`.
template <class P, class Bind>
Result<void> run(const Device& device, const P& problem, const Options& options, Bind bind) {
    const DeviceState& state = state_of(device);
    if (auto error = invalid_options(state, options)) return *error;
    const auto decision = decide(problem, state.info, options);
    if (!decision) return decision.error();
    const Variant<P>& variant = decision.value().entry->variant;
    const Configuration& configuration = decision.value().configuration;

    const CurrentDevice current(state);
    Arrays arrays(state, options);
    const auto buffers = bind(arrays);
    const std::size_t bytes = variant.workspace ? variant.workspace(problem, configuration, state.info) : 0;
    Context context{state.info, static_cast<Stream>(options.stream), arrays.workspace(bytes)};
    variant.run(context, problem, buffers, configuration);
    arrays.finish();
    return {};
}

}  // namespace espalier
