#include "harness/bench/sweep/record/uncounted.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>

#include "harness/base/progress.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/merge.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/records/stale.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

// Of an H200's counted cases on file, beside the runs themselves: a pass is begun and ended for all cases that share
// it, and each of these waits for the caches to be flushed and for its own range.
constexpr double kSecondsPerPass = 0.03;
constexpr double kSecondsPerPassAndCase = 0.0055;
// To make a problem's inputs and bring them to the device.
constexpr double kSecondsPerProblem = 0.3;
constexpr double kInputBytesPerSecond = 5e8;
constexpr double kCasesTogether = 64;   // sweep/worker/case_counters.cpp
constexpr double kLongToCountNs = 5e6;  // ibid.: longer runs get the metrics of one pass
constexpr double kExtraRuns = 2;        // one to see how long it takes, one to describe its launches

/// Whether this build's variant is the one that was measured.
bool is_of_these_sources(const CaseRecord& record, const KnownStaleList& known) {
    const std::vector<StaleVariant> stale = find_stale(std::span(&record, 1));
    return stale.empty() || is_known(known, stale.front());
}

}  // namespace

std::vector<CaseRecord> records_on_file(const fs::path& results, const std::vector<fs::path>& journals,
                                        std::span<const std::string> families) {
    std::vector<CaseRecord> records;
    if (fs::exists(results / "device.json")) records = load_results(results, families).cases;
    for (const fs::path& path : journals)
        for (CaseRecord& record : load_journal(path).cases)
            if (families.empty() || std::ranges::count(families, record.family)) records.push_back(std::move(record));
    return records;
}

Recorded what_can_be_counted(const fs::path& results, const std::vector<fs::path>& journals, const SweepPlan& plan,
                             RecordFrame& frame) {
    std::set<std::string> wanted, families;
    for (const PlannedProblem& planned : plan.problems) {
        families.emplace(planned.family->name());
        for (const PlannedCase& planned_case : planned.cases)
            wanted.insert(planned_record(frame, planned, planned_case).key());
    }
    Recorded recorded;
    if (families.empty()) return recorded;
    if (fs::exists(results / "device.json")) {
        const DeviceInfo known = load_device(results);
        if (known.name == frame.device.name && known.bytes_per_second > 0) frame.device = known;
    }
    const KnownStaleList known = load_known_stale(results);
    const std::vector<std::string> names(families.begin(), families.end());
    for (CaseRecord& record : records_on_file(results, journals, names))
        if (record.status == Status::ok && record.provenance.device_key == frame.device.key &&
            record.provenance.cache == to_string(frame.caches) && wanted.contains(record.key()) &&
            is_of_these_sources(record, known))
            recorded.records.push_back(std::move(record));
    return recorded;
}

std::vector<Task> without_counters(const SweepPlan& plan, const Recorded& recorded) {
    const auto latest = latest_by_case(recorded.records);
    std::vector<Task> tasks;
    for (std::size_t i = 0; i < plan.problems.size(); ++i) {
        const PlannedProblem& planned = plan.problems[i];
        Task task{.problem = i};
        for (std::size_t c = 0; c < planned.cases.size(); ++c) {
            const auto found = latest.find(planned_record({}, planned, planned.cases[c]).key());
            const bool timed = found != latest.end() && found->second->status == Status::ok;
            if (planned.cases[c].unsupported.empty() && timed && found->second->counters.empty())
                task.cases.push_back(c);
        }
        if (!task.cases.empty()) tasks.push_back(std::move(task));
    }
    return tasks;
}

double counting_seconds(const SweepPlan& plan, const Recorded& recorded, std::span<const Task> tasks,
                        std::size_t passes) {
    const auto latest = latest_by_case(recorded.records);
    double seconds = 0;
    for (const Task& task : tasks) {
        const PlannedProblem& planned = plan.problems.at(task.problem);
        seconds += kSecondsPerProblem +
                   static_cast<double>(planned.family->data_bytes(planned.problem)) / kInputBytesPerSecond;
        double quick = 0, slow = 0;  // cases
        for (const std::size_t c : task.cases) {
            const double run_ns = latest.at(planned_record({}, planned, planned.cases.at(c)).key())->time_ns;
            const bool all = planned.every_counter || run_ns < kLongToCountNs;
            (all ? quick : slow) += 1;
            const double runs = all ? static_cast<double>(passes) : 1;
            seconds += runs * kSecondsPerPassAndCase + (runs + kExtraRuns) * run_ns * 1e-9;
        }
        seconds += kSecondsPerPass *
                   (static_cast<double>(passes) * std::ceil(quick / kCasesTogether) + std::ceil(slow / kCasesTogether));
    }
    return seconds;
}

std::string describe_uncounted(const std::string& device_key, const Recorded& recorded, std::span<const Task> tasks,
                               std::size_t passes, double seconds) {
    std::size_t cases = 0;
    for (const Task& task : tasks) cases += task.cases.size();
    std::string text = fmt::format("{}: {} of the {} on file that were asked for lack counters", device_key, cases,
                                   counted(latest_by_case(recorded.records).size(), "timed case"));
    if (cases > 0)
        text += fmt::format(", of {}; counting them in {} takes about {}", counted(tasks.size(), "problem"),
                            counted(passes, "pass", "passes"), duration(seconds));
    return text;
}

}  // namespace espalier::bench
