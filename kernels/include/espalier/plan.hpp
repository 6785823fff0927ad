#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <utility>

#include "espalier/device.hpp"
#include "espalier/explanation.hpp"
#include "espalier/export.hpp"
#include "espalier/stream.hpp"

namespace espalier::inline v1 {

struct PlanState;

/// How a plan finds what it runs. A plan that measures takes memory for arrays like the caller's, and computes with
/// random numbers in them; without that memory it is out_of_memory. The choice that it learns is wisdom (`wisdom.hpp`),
/// which later decisions go by.
enum class Effort {
    tree,        ///< by wisdom of this very problem if there is some, else by the tree; nothing runs
    measure,     ///< times the choices of the tree's leaf that can run here, and the other configurations of their
                 ///< variants
    exhaustive,  ///< times every variant and configuration of the library that can run here
    predict,     ///< as tree, but asks the forest that goes with the tree, some microseconds long; where there is none,
                 ///< the tree (docs/library-choice.md); nothing runs
};

/// How a plan is made. Where there is wisdom of the problem from as much effort, or a variant is forced, nothing is
/// measured.
struct PlanOptions {
    Effort effort = Effort::tree;  ///< how the choice is found

    /// The most time that the measured runs may take together: of a GPU, or of the calling thread's processor. 0: 50 ms
    /// for Effort::measure, no limit for Effort::exhaustive. A run that would not fit by what is known of it is not
    /// begun; the first run of a choice may take longer than expected. Preparing arrays and comparing results comes on
    /// top.
    std::chrono::nanoseconds budget{0};
};

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
