#pragma once

#include "espalier/device.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/api/planned.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/dispatch/own_library.hpp"

/// The functions of a library that espalier_add_library makes, for the problem of any family. They know no array: the
/// pointers of `buffers` are what the device reaches.
namespace espalier::own {

inline Result<Device> device_of(const Where& where) {
    return where.gpu < 0 ? Result<Device>(Device::cpu()) : Device::cuda(where.gpu);
}

template <class P>
Result<void> run(const P& problem, const typename P::Buffers& buffers, const Where& where) {
    return guarded([&]() -> Result<void> {
        const auto device = device_of(where);
        if (!device) return device.error();
        const DeviceState& state = state_of(device.value());
        const int threads = threads_for(state, {});
        const DeviceInfo& here = state.on_threads(threads);
        const auto decision = decide(problem, here, where.variant);
        if (!decision) return decision.error();
        const CurrentDevice current(state);
        const CallMemory memory({&state, Memory::device}, workspace_bytes(decision.value(), problem, here),
                                where.stream);
        Context context{here, where.stream, memory.span()};
        const device::TeamSize team(threads);
        decision.value().entry->variant.run(context, problem, buffers, decision.value().configuration);
        return {};
    });
}

template <class P>
Result<Choice> choose(const P& problem, const Where& where) {
    return guarded([&]() -> Result<Choice> {
        const auto device = device_of(where);
        if (!device) return device.error();
        const DeviceState& state = state_of(device.value());
        const Tables<P> all = tables<P>();
        const auto explained = with_forced_variant(all.family, where.variant, [&](const ForcedVariant* forced) {
            return explain(all, problem, state.on_threads(threads_for(state, {})), forced);
        });
        if (!explained) return explained.error();
        return Choice{explained.value().variant, explained.value().configuration, explained.value().reason};
    });
}

}  // namespace espalier::own
