#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "espalier/plan.hpp"
#include "kernels/api/arrays.hpp"
#include "kernels/api/call_memory.hpp"
#include "kernels/api/checks.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/api/progress.hpp"
#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/explain.hpp"
#include "kernels/dispatch/recorded_problems.hpp"

namespace espalier {

/// Says what is wrong with the options for this device; nothing if they are right.
std::optional<Error> invalid_options(const DeviceState& device, const Options& options);

/// Says what is wrong with the options of a plan.
std::optional<Error> invalid_plan_options(const DeviceState& device, const Options& options,
                                          const PlanOptions& planning);

/// A workspace must be aligned, and as large as the copies of the arrays and the variant need.
std::optional<Error> wrong_workspace(const Transport& transport, std::span<const ArraySpec> specs,
                                     std::span<void* const> pointers, std::size_t variant_bytes,
                                     std::span<std::byte> workspace);

/// A call that is decided. `Call` says what a public function asks for, without the addresses:
///
///     struct Call {
///         Problem problem;
///         std::array<ArraySpec, N> arrays() const;
///         Buffers bind(const Pointers<N>& at) const;  // at: where the device reaches each of the arrays
///     };
template <class Call>
struct Planned {
    using Arrays = decltype(std::declval<const Call&>().arrays());

    Call call;
    Transport transport;
    Demands demands;
    int asked_threads;  ///< as `Options::threads`
    int threads;        ///< of the host that it was decided for
    DispatchResult<decltype(Call::problem)> decision;
    std::size_t variant_bytes;  ///< of the workspace that the variant needs; copies of arrays come before it
    Arrays arrays;              ///< the call's
    bool in_place;              ///< the variant gets the caller's pointers: on the CPU, no array is copied or empty

    [[nodiscard]] const DeviceInfo& info() const { return transport.device->on_threads(threads); }

    /// Bytes of workspace, for arrays that need no copy to be aligned.
    [[nodiscard]] std::size_t workspace_bytes() const { return copies_bytes(transport, arrays) + variant_bytes; }

    [[nodiscard]] Explanation explain() const {
        return explanation_of(decision, tables<decltype(Call::problem)>(), call.problem, info(), demands);
    }
};

/// Bytes of workspace that a variant needs. A plan may run on fewer threads than there are where it is made, inside of
/// a parallel region for example, and fewer may need more.
template <class P>
std::size_t variant_workspace(const DispatchResult<P>& decision, const P& problem, const DeviceState& device,
                              int threads, bool of_plan) {
    std::size_t bytes = workspace_bytes(decision, problem, device.on_threads(threads));
    if (!of_plan || !decision.entry->variant.workspace || device.info.kind != DeviceKind::cpu) return bytes;
    for (int fewer = 1; fewer < threads; ++fewer)
        bytes = std::max(bytes, workspace_bytes(decision, problem, device.on_threads(fewer)));
    return bytes;
}

/// Decides a valid call. Measures nothing.
template <class Call>
Result<Planned<Call>> decide_call(const DeviceState& device, Call call, const Options& options, const Demands& demands,
                                  Effort effort = Effort::tree) {
    const int threads = threads_for(device, options);
    auto decision = decide(call.problem, device.on_threads(threads), options.variant, demands);
    if (!decision) return decision.error();
    if (effort == Effort::predict)
        predict(decision.value(), tables<decltype(Call::problem)>(), call.problem, device.on_threads(threads), demands);
    const std::size_t bytes = variant_workspace(decision.value(), call.problem, device, threads, demands.only_enqueues);
    const Transport transport{&device, options.memory};
    const auto arrays = call.arrays();
    return Planned<Call>{.call = std::move(call),
                         .transport = transport,
                         .demands = demands,
                         .asked_threads = options.threads,
                         .threads = threads,
                         .decision = std::move(decision).value(),
                         .variant_bytes = bytes,
                         .arrays = arrays,
                         .in_place = are_in_place(transport, arrays)};
}

/// Enqueues a call whose arrays and workspace were checked, on the current device and so many threads of the host, no
/// more than it was decided for.
template <class Call, std::size_t N>
void enqueue(const Planned<Call>& planned, const Pointers<N>& pointers, Stream stream, std::span<std::byte> workspace,
             int threads) {
    const device::TeamSize team(threads);
    const auto run = [&](const Pointers<N>& at, std::byte* rest) {
        Context context{planned.transport.device->on_threads(threads), stream, {rest, planned.variant_bytes}};
        planned.decision.entry->variant.run(context, planned.call.problem, planned.call.bind(at),
                                            planned.decision.configuration);
    };
    if (planned.in_place) return run(pointers, workspace.data());
    Pointers<N> at = pointers;
    std::byte* const rest = bring_in(planned.transport, planned.arrays, at, workspace.data(), stream);
    run(at, rest);
    bring_back(planned.transport, planned.arrays, at, pointers, stream);
}

/// Tells the recorder of calls, if there is one, of a call that ended well.
class CallClock {
public:
    CallClock() {
        if (records_problems()) start_ = std::chrono::steady_clock::now();
    }

    /// `waited`: the results are there, and the time is the call's. Without memory the call is not counted.
    template <class Call>
    void stop(const Planned<Call>& planned, bool waited) const noexcept try {
        if (!start_) return;
        const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - *start_;
        record_problem({.family = tables<decltype(Call::problem)>().family,
                        .problem = problem_key(planned.call.problem, true),
                        .device = planned.info().key,
                        .threads = planned.transport.on_gpu() ? 0 : planned.threads,
                        .deterministic = planned.demands.deterministic},
                       waited ? std::optional(took.count()) : std::nullopt);
    } catch (const std::bad_alloc&) {
    }

private:
    std::optional<std::chrono::steady_clock::time_point> start_;
};

/// Runs a plan: checks everything, then enqueues.
template <class Call, std::size_t N>
Result<void> run_planned(const Planned<Call>& planned, const Pointers<N>& pointers, Stream stream,
                         std::span<std::byte> workspace) {
    if (stream && !planned.transport.on_gpu()) return invalid("the stream must be null for the CPU");
    if (auto error = wrong_arrays(planned.transport, planned.arrays, pointers, workspace)) return *error;
    if (!planned.in_place || planned.variant_bytes > 0)
        if (auto error = wrong_workspace(planned.transport, planned.arrays, pointers, planned.variant_bytes, workspace))
            return *error;
    const CallClock clock;
    const CurrentDevice current(*planned.transport.device);
    enqueue(planned, pointers, stream, workspace,
            std::min(planned.threads, device::allowed_threads(planned.asked_threads, planned.threads)));
    clock.stop(planned, !planned.transport.on_gpu());
    return {};
}

/// An error may leave copies from or to the caller's memory under way: they end before the caller hears of it.
class WaitOnError {
public:
    WaitOnError(bool wanted, Stream stream) : wanted_(wanted), stream_(stream) {}
    ~WaitOnError() {
        if (!wanted_) return;
        try {
            device::synchronize(stream_);
        } catch (...) {
            // The caller is told of what came first.
        }
    }
    WaitOnError(const WaitOnError&) = delete;
    WaitOnError& operator=(const WaitOnError&) = delete;
    void disarm() { wanted_ = false; }

private:
    bool wanted_;
    Stream stream_;
};

/// Runs a decided call once, in memory of its own.
template <class Call, std::size_t N>
Result<void> run_once(const Planned<Call>& planned, const Pointers<N>& pointers, const Options& options) {
    const Transport& transport = planned.transport;
    if (auto error = wrong_arrays(transport, planned.arrays, pointers, {})) return *error;
    const CallClock clock;
    const CurrentDevice current(*transport.device);
    WaitOnError waiting(transport.on_gpu() && transport.memory == Memory::host, options.stream);
    const CallMemory memory(transport, copies_bytes(transport, planned.arrays, pointers) + planned.variant_bytes,
                            options.stream);
    enqueue(planned, pointers, options.stream, memory.span(), planned.threads);
    waiting.disarm();
    const bool waits = options.wait || transport.memory == Memory::host;
    if (transport.on_gpu() && waits) device::synchronize(options.stream);
    clock.stop(planned, waits || !transport.on_gpu());
    return {};
}

/// A public function: decides a valid call and runs it once.
template <class Call, std::size_t N>
Result<void> call_once(const Device& device, Call call, const Pointers<N>& pointers, const Options& options) {
    const DeviceState& state = state_of(device);
    if (auto error = invalid_options(state, options)) return *error;
    const auto planned = decide_call(state, std::move(call), options, {.deterministic = options.deterministic});
    if (!planned) return planned.error();
    if (!options.progress) return run_once(planned.value(), pointers, options);
    const Progress progress(options);
    progress.at_start();
    auto done = run_once(planned.value(), pointers, of_part(options));
    if (done) progress.at_end();
    return done;
}

/// Explains with what `Options::variant` or else ESPALIER_FORCE_VARIANT forces, for as many threads as a call gets now.
template <class P>
Result<Explanation> explain(const P& problem, const DeviceState& device, const Options& options) {
    if (auto error = invalid_memory(options.memory)) return *error;
    if (auto error = invalid_threads(options)) return *error;
    const Tables<P> all = tables<P>();
    const DeviceInfo& here = device.on_threads(threads_for(device, options));
    return with_forced_variant(all.family, options.variant, [&](const ForcedVariant* forced) {
        return explain(all, problem, here, forced, {.deterministic = options.deterministic});
    });
}

/// The state that a public plan holds.
inline namespace v1 {
struct PlanState {
    PlanState(const Device& device, std::size_t bytes, bool is_deterministic)
        : of_device(device), workspace_bytes(bytes), deterministic(is_deterministic) {}
    virtual ~PlanState() = default;
    PlanState(const PlanState&) = delete;
    PlanState& operator=(const PlanState&) = delete;
    [[nodiscard]] virtual Explanation explain() const = 0;

    Device of_device;
    std::size_t workspace_bytes;
    bool deterministic;
};
}  // namespace v1

/// `Base` is PlanState, or what a family has instead whose plans are of several kinds.
template <class Call, class Base = PlanState>
struct PlanOf : Base {
    PlanOf(const Device& device, Planned<Call> decided)
        : Base(device, decided.workspace_bytes(), decided.decision.entry->variant.nondeterminism.empty()),
          planned(std::move(decided)) {}
    [[nodiscard]] Explanation explain() const override { return planned.explain(); }

    Planned<Call> planned;
};

/// Throws InvalidCall for the state of a plan that was moved from.
const PlanState& planned_state(const PlanState* state);

template <class Call>
const Planned<Call>& planned_of(const PlanState* state) {
    return static_cast<const PlanOf<Call>&>(planned_state(state)).planned;
}

}  // namespace espalier
