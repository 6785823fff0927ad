#include "harness/bench/sweep/record/resume.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "harness/bench/records/disturbance.hpp"
#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/merge.hpp"
#include "harness/bench/records/roofline.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

struct Latest {
    std::string session;
    bool disturbed = false;
};

}  // namespace

Recorded nothing_recorded(const SweepPlan& plan) {
    Recorded recorded;
    recorded.open.resize(plan.problems.size());
    std::iota(recorded.open.begin(), recorded.open.end(), std::size_t{0});
    return recorded;
}

std::vector<fs::path> journals_of(const fs::path& folder, const std::string& device_key) {
    std::vector<fs::path> journals;
    if (!fs::is_directory(folder)) return journals;
    for (const auto& entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(device_key + ".") && name.ends_with(".jsonl")) journals.push_back(entry.path());
    }
    std::ranges::sort(journals);
    return journals;
}

Recorded what_is_recorded(const std::vector<fs::path>& journals, const SweepPlan& plan, RecordFrame& frame,
                          bool quiet_ones_only) {
    Recorded recorded;
    std::set<std::string> wanted;
    for (const PlannedProblem& planned : plan.problems)
        for (const PlannedCase& planned_case : planned.cases)
            wanted.insert(code_identity(planned_record(frame, planned, planned_case)));
    std::map<std::string, Latest> done;
    std::set<std::string> seen;  // cases with an outcome, also of other code or another driver
    for (const fs::path& path : journals) {
        Journal journal = load_journal(path);
        for (const DeviceInfo& known : journal.devices)
            if (known.name == frame.device.name && known.key == frame.device.key && known.bytes_per_second > 0)
                frame.device = known;
        for (CaseRecord& record : journal.cases) {
            if (record.is_open() || unresolved(record)) continue;
            seen.insert(record.key());
            if (!wanted.contains(code_identity(record))) continue;
            Latest& latest = done[code_identity(record)];
            if (record.provenance.session >= latest.session)
                latest = {record.provenance.session, disturbance_of(record).has_value()};
            recorded.records.push_back(std::move(record));
        }
    }
    for (std::size_t i = 0; i < plan.problems.size(); ++i) {
        const PlannedProblem& planned = plan.problems[i];
        std::size_t lacking = 0, needed = 0, runnable = 0;
        for (const PlannedCase& planned_case : planned.cases) {
            const CaseRecord record = planned_record(frame, planned, planned_case);
            const auto found = done.find(code_identity(record));
            lacking += found == done.end() || (quiet_ones_only && found->second.disturbed);
            if (seen.contains(record.key())) continue;
            needed += planned_case.needed;
            runnable += planned_case.unsupported.empty();
        }
        if (lacking == 0) {
            recorded.complete_cases += planned.cases.size();
            continue;
        }
        recorded.open.push_back(i);
        if (needed > 0 || 2 * runnable > planned.runnable()) recorded.urgent.push_back(i);
    }
    return recorded;
}

}  // namespace espalier::bench
