#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "harness/bench/sweep/worker/candidates.hpp"
#include "harness/bench/sweep/worker/progress_page.hpp"
#include "harness/bench/sweep/worker/protocol.hpp"
#include "harness/bench/sweep/worker/verify.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// Verifies the candidates of a request before they are timed and after, and reports those that are wrong.
class VerificationPasses {
public:
    VerificationPasses(const protocol::Measure& request, const Family& family, const DeviceInfo& device,
                       ProgressPage& progress, Reporter& reporter)
        : request_(request), family_(family), device_(device), progress_(progress), reporter_(reporter) {}

    /// Makes the problem's data, and runs the baseline where candidates are compared with it. Returns why that failed.
    std::optional<RunFailure> prepare();

    /// The problem's data, for timing.
    [[nodiscard]] Bench& bench() { return verifier_->bench(); }

    /// Keeps the candidates that are right, with the time of a run. Those that are not begun before `deadline`, in
    /// steady seconds, are left out.
    void before_timing(std::vector<Candidate>& candidates, double deadline);

    /// Takes out the candidates that are not run again, because they took far longer than the fastest: in a sample, on
    /// a GPU, where no other program makes one seem slow. The verified run is the sample of each.
    std::vector<Candidate> take_slow_ones(std::vector<Candidate>& candidates) const;

    /// Keeps the candidates that are still right, on fresh inputs unless they are verified once.
    void after_timing(std::vector<Candidate>& candidates);

private:
    [[nodiscard]] bool once() const { return request_.verification == Verification::once; }
    [[nodiscard]] bool scales_down() const { return once() && verifier_->has_scaled_down(); }
    [[nodiscard]] double oracle_operations() const;
    [[nodiscard]] bool may_go_on(double deadline) const;
    [[nodiscard]] ScaledDownTime scaled_down_time(double seconds) const;

    void run_baseline();
    std::optional<Verdict> checked(const Candidate& candidate, const std::function<Verdict()>& verify,
                                   std::string_view when = "");
    Verdict verify(const Candidate& candidate, double seconds);
    Verdict run_scaled_down(Candidate& candidate);
    void verify_scaled_down(std::vector<Candidate>& candidates, double deadline);
    void time_fastest_scaled_down(const Candidate& candidate);

    const protocol::Measure& request_;
    const Family& family_;
    const DeviceInfo& device_;
    ProgressPage& progress_;
    Reporter& reporter_;
    std::optional<Verifier> verifier_;
    double seconds_ = 0;                                        ///< for which a verification repeats a short run
    double fastest_ = std::numeric_limits<double>::infinity();  ///< of what was verified: seconds of a run
    double fastest_scaled_down_ = std::numeric_limits<double>::infinity();
    bool any_takes_long_ = false;  ///< at full size, in proportion to the scaled-down problem
};

}  // namespace espalier::bench
