#include "harness/bench/sweep/worker/verification_passes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "harness/base/clock.hpp"
#include "harness/bench/sweep/worker/scaled_down.hpp"

namespace espalier::bench {
namespace {

// How long one verification goes on repeating a short run, and what share of a problem's time all of them may
// take together where time is short.
constexpr double kVerifySeconds = 0.02;
constexpr double kVerifyShare = 0.15;

constexpr double kOracleOperationsPerSecond = 5e8;  // about

constexpr const char* kTooSlow = "hundreds of times the fastest on a smaller problem, and in proportion here";

}  // namespace

std::optional<RunFailure> VerificationPasses::prepare() {
    progress_.step(Phase::preparing);
    const auto failure =
        failure_of([&] { verifier_.emplace(family_, request_.problem, device_, request_.seed, oracle_operations()); });
    if (!failure && request_.baseline && !once() && verifier_->needs_baseline()) run_baseline();
    return failure;
}

/// A baseline that fails is not the candidates' fault: the sweep sees in which phase this process
/// ended and asks again without it. Without memory for it the candidates do without.
void VerificationPasses::run_baseline() {
    progress_.step(Phase::baseline);
    const auto failure = failure_of([&] { verifier_->run_baseline(); });
    if (failure && failure->spoils) reporter_.spoil();
}

/// Where time is short the oracle gets a smaller problem: it runs twice. So it does for a sample, where naive variants
/// take as long for the oracle's problems as the rest for a hundred of them.
double VerificationPasses::oracle_operations() const {
    if (request_.verification == Verification::full) return std::numeric_limits<double>::infinity();
    const double most = once() ? kOracleOperations / 10 : kOracleOperations;
    return std::min(most, kVerifyShare / 2 * kOracleOperationsPerSecond * request_.total_seconds);
}

bool VerificationPasses::may_go_on(double deadline) const { return reporter_.usable() && steady_seconds() <= deadline; }

void VerificationPasses::before_timing(std::vector<Candidate>& candidates, double deadline) {
    const double fair = kVerifyShare * request_.total_seconds / static_cast<double>(candidates.size());
    seconds_ = once() ? 0 : std::min(kVerifySeconds, fair);
    if (scales_down()) verify_scaled_down(candidates, deadline);
    std::vector<Candidate> right;
    for (Candidate& candidate : candidates) {
        if (!may_go_on(deadline)) break;
        if (scales_down() && too_slow(scaled_down_time(candidate.scaled_down_seconds), fastest_)) {
            reporter_.fail(candidate.index, Status::too_slow, kTooSlow);
            continue;
        }
        (void)bench().take_stages_run();  // of the candidate before it
        const auto verdict = checked(candidate, [&] { return verify(candidate, seconds_); });
        if (!verdict) continue;
        reporter_.send(protocol::Verified{candidate.index, verdict->how, bench().take_stages_run()});
        candidate.run_seconds = verdict->run_seconds;
        fastest_ = std::min(fastest_, candidate.run_seconds);
        right.push_back(std::move(candidate));
    }
    candidates = std::move(right);
}

void VerificationPasses::after_timing(std::vector<Candidate>& candidates) {
    if (!once()) {
        progress_.step(Phase::preparing);
        verifier_->refresh(request_.seed ^ 0x9E3779B97F4A7C15);
    }
    std::vector<Candidate> right;
    for (Candidate& candidate : candidates) {
        // No deadline: a time counts only if it is verified.
        if (!reporter_.usable()) break;
        const auto verdict = checked(
            candidate, [&] { return verify(candidate, seconds_ / 2); }, "after timing, on fresh inputs: ");
        if (!verdict) continue;
        candidate.run_seconds = verdict->run_seconds;
        right.push_back(std::move(candidate));
    }
    candidates = std::move(right);
}

/// The verdict on a candidate that is right; of any other one the sweep has been told.
std::optional<Verdict> VerificationPasses::checked(const Candidate& candidate, const std::function<Verdict()>& verify,
                                                   std::string_view when) {
    progress_.step(Phase::verifying, candidate.index);
    Verdict verdict;
    if (!reporter_.ran(candidate.index, [&] { verdict = verify(); })) return std::nullopt;
    if (!verdict.wrong) return verdict;
    reporter_.fail(candidate.index, Status::wrong, std::string(when) + verdict.wrong.description);
    if (verdict.overran) reporter_.spoil();
    return std::nullopt;
}

Verdict VerificationPasses::verify(const Candidate& candidate, double seconds) {
    if (scales_down()) return verifier_->verify_at_full_size(candidate.variant, candidate.configuration);
    return verifier_->verify(candidate.variant, candidate.configuration, {.least = once() ? 1 : 2, .seconds = seconds});
}

/// Keeps what is right on the scaled-down problem, the fastest first. The first of all is one that the others can
/// be compared with.
void VerificationPasses::verify_scaled_down(std::vector<Candidate>& candidates, double deadline) {
    std::vector<Candidate> right;
    for (Candidate& candidate : candidates) {
        if (!may_go_on(deadline)) break;
        if (checked(candidate, [&] { return run_scaled_down(candidate); })) right.push_back(std::move(candidate));
    }
    std::ranges::stable_sort(right, {}, &Candidate::scaled_down_seconds);
    if (!right.empty()) time_fastest_scaled_down(right.front());
    const auto first = std::ranges::find_if(right, [&](const Candidate& candidate) {
        return std::isfinite(candidate.scaled_down_seconds) && verifier_->is_precise(candidate.variant);
    });
    if (first != right.end()) std::rotate(right.begin(), first, first + 1);
    candidates = std::move(right);
}

/// The shorter of two runs if it takes long: the first launch of a kernel loads it.
Verdict VerificationPasses::run_scaled_down(Candidate& candidate) {
    Verdict verdict = verifier_->verify_scaled_down(candidate.variant, candidate.configuration);
    if (!verdict.wrong && takes_long(scaled_down_time(verdict.run_seconds))) {
        const double first = verdict.run_seconds;
        verdict = verifier_->verify_scaled_down(candidate.variant, candidate.configuration);
        verdict.run_seconds = std::min(verdict.run_seconds, first);
        any_takes_long_ |= takes_long(scaled_down_time(verdict.run_seconds));
    }
    candidate.scaled_down_seconds = verdict.run_seconds;
    return verdict;
}

/// A second run where somebody takes long: the first one may have loaded the kernel.
void VerificationPasses::time_fastest_scaled_down(const Candidate& candidate) {
    fastest_scaled_down_ = candidate.scaled_down_seconds;
    if (!any_takes_long_) return;
    reporter_.ran(candidate.index, [&] {
        const Verdict again = verifier_->verify_scaled_down(candidate.variant, candidate.configuration);
        fastest_scaled_down_ = std::min(fastest_scaled_down_, again.run_seconds);
    });
}

ScaledDownTime VerificationPasses::scaled_down_time(double seconds) const {
    return {.seconds = seconds, .fastest_seconds = fastest_scaled_down_, .work_ratio = verifier_->work_ratio()};
}

std::vector<Candidate> VerificationPasses::take_slow_ones(std::vector<Candidate>& candidates) const {
    constexpr double kTimes = 20;
    constexpr double kSeconds = 0.01, kSecondsWithLoading = 0.1;  // the first launch of a kernel loads it
    std::vector<Candidate> slow;
    if (!once() || device_.kind != DeviceKind::cuda) return slow;
    std::erase_if(candidates, [&](const Candidate& candidate) {
        const bool loaded = verifier_->has_scaled_down() && std::isfinite(candidate.scaled_down_seconds);
        const double least = std::max(loaded ? kSeconds : kSecondsWithLoading, kTimes * fastest_);
        if (candidate.run_seconds <= least) return false;
        slow.push_back(candidate);
        return true;
    });
    return slow;
}

}  // namespace espalier::bench
