#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "espalier/device.hpp"
#include "espalier/explanation.hpp"
#include "espalier/export.hpp"
#include "espalier/stream.hpp"

namespace espalier::inline v1 {

struct PlanState;

/// A call that is decided once and run many times: the variant, its configuration and how much memory it needs are
/// found out when the plan is made, and a run only enqueues. Every function that computes has a `plan_` sibling.
///
/// A run takes the stream and the workspace: `workspace_bytes` of the device's memory, aligned to 512 bytes (as
/// cudaMalloc aligns), 64 on the CPU. It allocates nothing and waits for nothing, so that it can be captured in a CUDA
/// graph (on the CPU selections and nearest neighbours keep lists of their own while they run); workspace and arrays
/// must stay valid until its work is done, and runs that may overlap need workspaces of their own. On the CPU the
/// results are there when it returns.
///
/// Arrays are where `Options::memory` said when the plan was made. From host memory the run enqueues the copies to the
/// GPU and back, whose room is part of the workspace; only page-locked arrays are then copied without waiting, and
/// captured. Arrays in device memory are best aligned to 512 bytes; others need that much more workspace for a copy.
///
/// Everything is checked before anything is enqueued: sizes that are not the plan's, null or overlapping arrays, those
/// of another device, a workspace that is too small or not aligned. Errors of a run: invalid_argument, out_of_memory,
/// device_failure.
///
/// Plans are values, cheap to copy, and any number of threads may run one at once. One that was moved from is empty:
/// runs and `explain` return invalid_argument, it needs no workspace, is deterministic, and its device is the CPU.
class ESPALIER_API Plan {
public:
    [[nodiscard]] const Device& device() const noexcept;         ///< what it is for
    [[nodiscard]] std::size_t workspace_bytes() const noexcept;  ///< of the memory that a run needs

    /// Whether equal runs give equal bits. `Options::deterministic` asks for it.
    [[nodiscard]] bool deterministic() const noexcept;

    /// Explains the choice that runs.
    [[nodiscard]] Result<Explanation> explain() const;

    /// @cond
    explicit Plan(std::shared_ptr<const PlanState> state) noexcept : state_(std::move(state)) {}
    /// @endcond

protected:
    /// @cond
    [[nodiscard]] const PlanState* state() const noexcept { return state_.get(); }  ///< null if it is empty
    /// @endcond

private:
    std::shared_ptr<const PlanState> state_;
};

}  // namespace espalier::inline v1
