#include "harness/bench/sweep/worker/verify.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "harness/base/clock.hpp"
#include "harness/base/guard_pages.hpp"
#include "harness/bench/families/memory_kept.hpp"
#include "harness/bench/sweep/worker/scaled_down.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

constexpr std::array<std::uint8_t, 3> kPoisons{0xFF, 0x00, 0x5A};
constexpr int kMostRuns = 48;       // a race that shows in one run of ten escapes 48 in less than 1% of cases
constexpr double kShortRun = 2e-4;  // seconds: such a run may be repeated 32 times
constexpr double kLongRun = 0.02;   // seconds: such a run is not repeated just for another poison

}  // namespace

bool takes_long(const ScaledDownTime& time) {
    constexpr double kSeconds = 0.3;
    return std::isfinite(time.seconds) && time.seconds * time.work_ratio > kSeconds;
}

bool too_slow(const ScaledDownTime& time, double fastest_seconds) {
    constexpr double kTimes = 300, kFixedCosts = 0.05;  // seconds
    return takes_long(time) && time.seconds > std::max(kFixedCosts, kTimes * time.fastest_seconds) &&
           time.seconds * time.work_ratio > kTimes * fastest_seconds;
}

void finish(const DeviceInfo& device) {
    if (device.kind == DeviceKind::cuda) device::synchronize();
}

Verifier::Verifier(const Family& family, std::string problem, const DeviceInfo& device, std::uint64_t seed,
                   double oracle_operations)
    : family_(family), problem_(std::move(problem)), device_(device) {
    bench_ = family.bench(problem_, seed, Pattern::uniform, device_);
    if (operations_of(family, problem_) <= oracle_operations) return;
    if (const auto smaller = scaled_down_problem(family, problem_, oracle_operations)) {
        scaled_down_ = *smaller;
        scaled_down_bench_ = family.bench(scaled_down_, seed, Pattern::uniform, device_);
    }
}

Verdict Verifier::verify(std::size_t variant, const Configuration& configuration, Repeats repeats) {
    return once_idle(verify_here_or_scaled_down(variant, configuration, repeats));
}

Verdict Verifier::once_idle(Verdict verdict) const {
    if (device_.kind == DeviceKind::cuda) device::synchronize_all();
    return verdict;
}

Verdict Verifier::verify_here_or_scaled_down(std::size_t variant, const Configuration& configuration, Repeats repeats) {
    if (scaled_down_.empty()) return verify_on(*bench_, variant, configuration, repeats);
    const bool has_scaled_down = bool(family_.supports(variant, scaled_down_, configuration, device_));
    Verdict verdict;
    if (has_scaled_down) verdict = verify_on_scaled_down(variant, configuration, repeats);
    if (verdict.wrong) return verdict;
    verdict = run_here(variant, configuration);
    if (verdict.wrong) return verdict;
    verdict.how = "twin";
    if (auto compared = compare_with_reference(variant)) {
        verdict.how = has_scaled_down ? "twin+baseline" : "baseline";
        verdict.wrong = std::move(*compared);
    } else if (!has_scaled_down) {
        return verify_on(*bench_, variant, configuration, repeats);
    }
    return verdict;
}

Verdict Verifier::verify_on_scaled_down(std::size_t variant, const Configuration& configuration, Repeats repeats) {
    Verdict verdict = verify_on(*scaled_down_bench_, variant, configuration, repeats);
    verdict.how = "twin";  // results files have these strings
    if (verdict.wrong) verdict.wrong.description = "on " + scaled_down_ + ": " + verdict.wrong.description;
    return verdict;
}

double Verifier::work_ratio() const { return operations_of(family_, problem_) / operations_of(family_, scaled_down_); }

bool Verifier::is_precise(std::size_t variant) const {
    const std::size_t baseline = family_.baseline(device_.kind);
    if (baseline == Family::npos) return true;
    const Tolerance &its = family_.variants()[variant].tolerance, &most = family_.variants()[baseline].tolerance;
    return its.absolute <= most.absolute && its.relative <= most.relative && its.any_order <= most.any_order;
}

Verdict Verifier::verify_scaled_down(std::size_t variant, const Configuration& configuration) {
    if (family_.supports(variant, scaled_down_, configuration, device_))
        return once_idle(verify_on_scaled_down(variant, configuration, {.least = 1, .seconds = 0}));
    Verdict verdict;
    verdict.run_seconds = std::numeric_limits<double>::infinity();
    return verdict;
}

Verdict Verifier::verify_at_full_size(std::size_t variant, const Configuration& configuration) {
    return once_idle(verify_against_reference(variant, configuration));
}

Verdict Verifier::verify_against_reference(std::size_t variant, const Configuration& configuration) {
    const bool has_scaled_down = bool(family_.supports(variant, scaled_down_, configuration, device_));
    if (!has_scaled_down && reference_ == Family::npos)
        return verify_on(*bench_, variant, configuration, {.least = 1, .seconds = 0});
    Verdict verdict = run_here(variant, configuration);
    if (verdict.wrong) return verdict;
    verdict.how = "twin";
    if (reference_ == Family::npos) {
        bench_->keep_outputs({});
        reference_ = variant;
        return verdict;
    }
    auto compared = compare_with_reference(variant);
    if (compared && *compared && !baseline_is_reference() && needs_baseline()) {
        run_baseline();
        verdict = run_here(variant, configuration);
        compared = verdict.wrong ? verdict.wrong : compare_with_reference(variant);
    }
    if (!compared) return verdict;
    const std::string with = baseline_is_reference() ? "baseline" : "fastest";
    verdict.how = has_scaled_down ? "twin+" + with : "baseline";
    verdict.wrong = std::move(*compared);
    return verdict;
}

Verdict Verifier::run_here(std::size_t variant, const Configuration& configuration) {
    Verdict verdict;
    bench_->poison(kPoisons[round_ % kPoisons.size()]);
    finish(device_);
    const double start = steady_seconds();
    bench_->run(variant, configuration);
    finish(device_);
    verdict.run_seconds = steady_seconds() - start;
    verdict.wrong = bench_->check_guards();
    verdict.overran = bool(verdict.wrong);
    return verdict;
}

bool Verifier::run_before_guard_pages(std::size_t variant, const Configuration& configuration) {
    constexpr std::size_t kMostBytes = std::size_t{16} << 20;
    const std::string& problem = scaled_down_.empty() ? problem_ : scaled_down_;
    if (device_.kind != DeviceKind::cpu || family_.data_bytes(problem) > kMostBytes) return false;
    if (!family_.supports(variant, problem, configuration, device_)) return false;
    const GuardedArrays guarded;
    if (!guarded_bench_) guarded_bench_ = family_.bench(problem, 1, Pattern::uniform, device_);
    const double begun = steady_seconds();
    guarded_bench_->run(variant, configuration);
    return steady_seconds() - begun < kShortRun;
}

Verdict Verifier::verify_on(Bench& bench, std::size_t variant, const Configuration& configuration, Repeats repeats) {
    const bool is_short = run_before_guard_pages(variant, configuration);
    Verdict verdict{.wrong = {}, .overran = false, .how = "oracle"};
    const double start = steady_seconds();
    for (int runs = 0; runs < kMostRuns; ++runs) {
        if (runs >= repeats.least && steady_seconds() - start > repeats.seconds) break;
        if (runs >= 1 && verdict.run_seconds > kLongRun) break;
        bench.poison(kPoisons[(round_ + static_cast<std::size_t>(runs)) % kPoisons.size()]);
        finish(device_);
        const double begun = steady_seconds();
        bench.run(variant, configuration);
        finish(device_);
        verdict.run_seconds = steady_seconds() - begun;
        verdict.wrong = bench.check_guards();
        verdict.overran = bool(verdict.wrong);
        if (!verdict.wrong) verdict.wrong = check_values(bench, variant);
        if (verdict.wrong) break;
    }
    if (!verdict.wrong && is_short)
        verdict.wrong = {memory_kept(*guarded_bench_, variant, configuration, device_.kind)};
    return verdict;
}

Mismatch Verifier::check_values(Bench& bench, std::size_t variant) const {
    const Tolerance& tolerance = family_.variants()[variant].tolerance;
    if (bench.outputs_are_kept(tolerance)) return {};
    Mismatch wrong = bench.check(variant);
    if (!wrong) bench.keep_outputs(tolerance);
    return wrong;
}

std::optional<Mismatch> Verifier::compare_with_reference(std::size_t variant) {
    if (reference_ == Family::npos) return std::nullopt;
    if (bench_->outputs_are_kept(family_.variants()[variant].tolerance)) return Mismatch{};
    // Rounding may differ, and only the family knows by how much.
    if (!adopted_) adopted_ = bench_->adopt_first_kept();
    if (!adopted_) return std::nullopt;
    Mismatch wrong = check_values(*bench_, variant);
    if (wrong)
        wrong.description =
            "differs from " + std::string(family_.variants()[reference_].name) + " at full size: " + wrong.description;
    return wrong;
}

bool Verifier::needs_baseline() const {
    const std::size_t baseline = family_.baseline(device_.kind);
    return !scaled_down_.empty() && baseline != Family::npos &&
           family_.supports(baseline, problem_, family_.variants()[baseline].configurations.front(), device_);
}

void Verifier::run_baseline() {
    const std::size_t baseline = family_.baseline(device_.kind);
    bench_->forget_outputs();
    adopted_ = false;
    bench_->poison(kPoisons[2]);
    bench_->run(baseline, family_.variants()[baseline].configurations.front());
    finish(device_);
    bench_->keep_outputs({});
    reference_ = baseline;
}

void Verifier::refresh(std::uint64_t seed) {
    ++round_;
    if (scaled_down_bench_)
        scaled_down_bench_->refresh(seed);
    else
        bench_->refresh(seed);
}

}  // namespace espalier::bench
