#include "harness/sweep/verify.hpp"

#include <array>

#include "harness/device/runtime.hpp"
#include "harness/sweep/clock.hpp"
#include "harness/sweep/twin.hpp"

namespace espalier {
namespace {

constexpr std::array<std::uint8_t, 3> kPoisons{0xFF, 0x00, 0x5A};
constexpr int kMostRuns = 48;   // a race that shows in one run of ten escapes 48 in less than 1% of cases
constexpr double kLongRun = 2;  // seconds: such a run is not repeated just for another poison

}  // namespace

void finish(const DeviceInfo& device) {
    if (device.kind == DeviceKind::cuda) device::synchronize();
}

Verifier::Verifier(const Family& family, std::string problem, const DeviceInfo& device, std::uint64_t seed,
                   double oracle_operations)
    : family_(family), problem_(std::move(problem)), device_(device) {
    bench_ = family.bench(problem_, seed, Pattern::uniform, device_);
    if (operations_of(family, problem_) <= oracle_operations) return;
    if (const auto twin = scaled_down_twin(family, problem_, oracle_operations)) {
        twin_ = *twin;
        twin_bench_ = family.bench(twin_, seed, Pattern::uniform, device_);
    }
}

Verdict Verifier::judge(std::size_t variant, const Configuration& configuration, double seconds) {
    if (twin_.empty() || !family_.supports(variant, twin_, configuration, device_)) {
        adopted_ = false;
        return judge_on(*bench_, variant, configuration, seconds);
    }
    Verdict verdict = judge_on(*twin_bench_, variant, configuration, seconds);
    if (verdict.wrong) {
        verdict.wrong.description = "on " + twin_ + ": " + verdict.wrong.description;
        return verdict;
    }
    verdict.how = "twin";
    const double start = steady_seconds();
    bench_->poison(kPoisons[0]);
    bench_->run(variant, configuration);
    finish(device_);
    verdict.run_seconds = steady_seconds() - start;
    verdict.overran = bool(bench_->check_guards());
    if (auto compared = compare_with_baseline(variant, configuration)) {
        verdict.how = "twin+baseline";
        verdict.wrong = std::move(*compared);
    }
    return verdict;
}

Verdict Verifier::judge_on(Bench& bench, std::size_t variant, const Configuration& configuration, double seconds) {
    Verdict verdict{.wrong = {}, .overran = false, .how = "oracle"};
    const double start = steady_seconds();
    for (int runs = 0; runs < kMostRuns; ++runs) {
        if (runs >= 2 && steady_seconds() - start > seconds) break;
        if (runs >= 1 && verdict.run_seconds > kLongRun) break;
        bench.poison(kPoisons[static_cast<std::size_t>(runs) % kPoisons.size()]);
        finish(device_);
        const double begun = steady_seconds();
        bench.run(variant, configuration);
        finish(device_);
        verdict.run_seconds = steady_seconds() - begun;
        verdict.overran = bool(bench.check_guards());
        verdict.wrong = bench.check(variant);
        if (verdict.wrong) break;
    }
    return verdict;
}

std::optional<Mismatch> Verifier::compare_with_baseline(std::size_t variant, const Configuration& configuration) {
    if (auto overrun = bench_->check_guards()) return overrun;
    const std::size_t baseline = family_.baseline(device_.kind);
    if (!baseline_tried_) {
        run_baseline();
        bench_->poison(kPoisons[1]);  // the outputs are the baseline's now: the candidate's once more
        bench_->run(variant, configuration);
        finish(device_);
    }
    if (!baseline_ran_) return std::nullopt;
    if (bench_->outputs_as_kept()) return Mismatch{};
    // Rounding may differ, and only the family knows by how much.
    if (!adopted_) adopted_ = bench_->adopt_kept();
    if (!adopted_) return std::nullopt;
    Mismatch wrong = bench_->check(variant);
    if (wrong)
        wrong.description =
            "differs from " + std::string(family_.variants()[baseline].name) + " at full size: " + wrong.description;
    return wrong;
}

void Verifier::run_baseline() {
    baseline_tried_ = true;
    const std::size_t baseline = family_.baseline(device_.kind);
    if (baseline == Family::npos) return;
    const Configuration& configuration = family_.variants()[baseline].configurations.front();
    if (!family_.supports(baseline, problem_, configuration, device_)) return;
    bench_->poison(kPoisons[2]);
    bench_->run(baseline, configuration);
    finish(device_);
    bench_->keep_outputs();
    baseline_ran_ = true;
}

void Verifier::refresh(std::uint64_t seed) {
    if (twin_bench_)
        twin_bench_->refresh(seed);
    else
        bench_->refresh(seed);
}

}  // namespace espalier
