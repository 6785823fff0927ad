#include "harness/bench/sweep/worker/case_counters.hpp"

#include <algorithm>
#include <exception>

#include "harness/base/clock.hpp"
#include "harness/base/range.hpp"
#include "harness/bench/sweep/worker/sampler.hpp"

namespace espalier::bench {
namespace {

using protocol::Counted;

constexpr const char* kNoGpu = "hardware counters are collected on GPUs only";

// The full set takes a dozen runs; of slower cases only what one run gives is collected.
constexpr double kLongToCount = 0.005;

// Beginning and ending a dozen passes takes some 0.4 s.
constexpr double kSecondsTogether = 2;
constexpr std::size_t kMostTogether = 64;

using Readings = std::vector<device::CounterReading>;

/// Counters without a launch beside them, as where nothing could be traced, are counters all the same.
Counted counted(const CaseToCount& counted_case, const Readings& metrics, const Readings& launches,
                const std::string& missing) {
    Counted result{counted_case.candidate, {}, {}};
    for (const Readings& readings : {metrics, launches})
        for (const auto& reading : readings) {
            if (reading.value)
                result.counters.emplace_back(reading.name, *reading.value);
            else
                result.reason += (result.reason.empty() ? "" : "; ") + reading.name + ": " + reading.reason;
        }
    if (!result.counters.empty() && result.reason.empty()) result.reason = missing;
    return result;
}

}  // namespace

std::size_t cases_to_count_together(std::span<const CaseToCount> cases, std::size_t passes) {
    std::size_t together = 0;
    double seconds = 0;
    while (together < std::min(cases.size(), kMostTogether)) {
        seconds += static_cast<double>(passes) * cases[together].run_seconds;
        if (together > 0 && seconds > kSecondsTogether) break;
        ++together;
    }
    return together;
}

/// One set of metrics for some of the cases.
struct CaseCounters::Pass {
    std::span<const CaseToCount> cases;
    const Opened& opened;
    std::string missing;  ///< why these are not all metrics there are
    double deadline;
    CacheFlusher* flusher;
    ProgressPage& progress;
    const Send& send;
};

std::string CaseCounters::refusal() {
    return device_.kind == DeviceKind::cuda ? opened(basic_, device::basic_counters()).reason : kNoGpu;
}

std::size_t CaseCounters::passes() {
    if (device_.kind != DeviceKind::cuda) return 0;
    const Opened& full = opened(full_, device::full_counters());
    return full.session ? full.session->passes() : 0;
}

bool CaseCounters::count(std::vector<CaseToCount> cases, bool every, Caches caches, double deadline,
                         ProgressPage& progress, const Send& send) {
    if (device_.kind != DeviceKind::cuda) {
        for (const CaseToCount& each : cases) send(Counted{each.candidate, {}, kNoGpu});
        return true;
    }
    const auto slow = std::stable_partition(
        cases.begin(), cases.end(), [&](const CaseToCount& each) { return every || each.run_seconds < kLongToCount; });
    const std::span<const CaseToCount> quick_cases(cases.begin(), slow), slow_cases(slow, cases.end());
    std::unique_ptr<CacheFlusher> flusher;
    if (caches != Caches::warm) flusher = std::make_unique<CacheFlusher>(device_, caches);
    return (quick_cases.empty() ||
            count_all(
                {quick_cases, opened(full_, device::full_counters()), {}, deadline, flusher.get(), progress, send})) &&
           (slow_cases.empty() ||
            count_all({slow_cases, opened(basic_, device::basic_counters()),
                       "a run is too long for the counters of many passes", deadline, flusher.get(), progress, send}));
}

const CaseCounters::Opened& CaseCounters::opened(std::optional<Opened>& session,
                                                 std::span<const std::string_view> metrics) {
    if (!session) {
        session.emplace();
        session->session = device::open_counters(metrics, session->reason);
    }
    return *session;
}

bool CaseCounters::count_all(const Pass& pass) {
    for (auto left = pass.cases; !left.empty();) {
        const bool in_time = steady_seconds() <= pass.deadline;
        if (!pass.opened.session || !in_time) {
            for (const CaseToCount& each : left)
                pass.send(Counted{each.candidate, {}, pass.opened.session ? "time budget" : pass.opened.reason});
            return true;
        }
        const std::size_t together = cases_to_count_together(left, pass.opened.session->passes());
        if (!count_together(pass, left.first(together))) return false;
        left = left.subspan(together);
    }
    return true;
}

bool CaseCounters::count_together(const Pass& pass, std::span<const CaseToCount> cases) {
    const auto flush = [&] {
        if (pass.flusher) pass.flusher->flush();
    };
    std::vector<std::function<void()>> launches;
    for (const CaseToCount& each : cases)
        launches.emplace_back([&pass, &each] {
            pass.progress.step(Phase::counting, each.candidate);
            each.run();
        });
    try {
        const device::Range range("counting " + std::to_string(cases.size()) + " cases");
        std::vector<Readings> described;
        for (const auto& launch : launches) described.push_back(device::describe_launches(launch));
        const auto readings = pass.opened.session->measure(flush, launches);
        for (std::size_t i = 0; i < cases.size(); ++i)
            pass.send(counted(cases[i], readings[i], described[i], pass.missing));
    } catch (const std::exception& error) {
        for (const CaseToCount& each : cases) pass.send(Counted{each.candidate, {}, error.what()});
        return false;
    }
    return true;
}

}  // namespace espalier::bench
