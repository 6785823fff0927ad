#include "harness/bench/records/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "harness/base/files/same_file.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/bench/records/roofline.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> journal_files(const std::vector<fs::path>& inputs) {
    std::vector<fs::path> files;
    for (const fs::path& input : inputs) {
        if (!fs::is_directory(input)) {
            files.push_back(input);
            continue;
        }
        for (const auto& entry : fs::directory_iterator(input))
            if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    if (files.empty()) throw BadData("there is no journal: run espalier sweep, or name the journal files");
    return files;
}

/// Everything that the journals say about one device.
struct Pool {
    std::vector<DeviceInfo> devices;
    std::vector<PlanRecord> plans;
    std::vector<CaseRecord> cases;
    std::size_t from_results = 0;  ///< the first so many cases
};

bool measured(const CaseRecord& record) { return !record.is_open(); }

/// Whether `later` replaces `earlier`; both are of one case.
bool supersedes(const CaseRecord& later, const CaseRecord& earlier) {
    if (measured(later) != measured(earlier)) return measured(later);
    // A race shows itself sometimes: once wrong, the same code stays wrong.
    if (earlier.status == Status::wrong && later.status == Status::ok &&
        earlier.provenance.source_id == later.provenance.source_id)
        return false;
    if (later.provenance.session != earlier.provenance.session)
        return later.provenance.session > earlier.provenance.session;
    return !later.counters.empty() || earlier.counters.empty();  // which may have been collected afterwards
}

/// Gives records that were timed again without counters those that the latest earlier sweep collected of the same code.
void keep_counters(const Pool& pool, std::vector<CaseRecord>& cases) {
    std::map<std::string, const CaseRecord*> counted;
    for (const CaseRecord& record : pool.cases) {
        if (record.counters.empty()) continue;
        const CaseRecord*& latest = counted[code_identity(record)];
        if (!latest || record.provenance.session > latest->provenance.session) latest = &record;
    }
    if (counted.empty()) return;
    for (CaseRecord& record : cases) {
        if (record.status != Status::ok || !record.counters.empty()) continue;
        const auto found = counted.find(code_identity(record));
        if (found == counted.end()) continue;
        record.counters = found->second->counters;
        record.counters_reason = "collected in session " + found->second->provenance.session;
    }
}

std::vector<CaseRecord> latest(const Pool& pool, MergeReport& report) {
    std::map<std::string, std::size_t> chosen;
    for (std::size_t i = 0; i < pool.cases.size(); ++i) {
        const auto [entry, first] = chosen.emplace(pool.cases[i].key(), i);
        if (first) continue;
        const CaseRecord& earlier = pool.cases[entry->second];
        if (supersedes(pool.cases[i], earlier))
            entry->second = i;
        else if (earlier.status == Status::wrong && pool.cases[i].status == Status::ok)
            ++report.kept_wrong;
    }
    std::vector<CaseRecord> cases;
    for (const auto& [key, index] : chosen) {
        cases.push_back(pool.cases[index]);
        report.kept += index < pool.from_results;
    }
    keep_counters(pool, cases);
    // By the problem's numbers, so that files read well and do not depend on the order of measuring.
    std::stable_sort(cases.begin(), cases.end(), [](const CaseRecord& a, const CaseRecord& b) {
        return std::tie(a.family, a.features, a.problem, a.variant, a.configuration) <
               std::tie(b.family, b.features, b.problem, b.variant, b.configuration);
    });
    return cases;
}

template <class Value>
void refuse_mixture(const std::vector<CaseRecord>& cases, bool allowed, const char* what, const char* flag,
                    Value value) {
    std::set<std::string> values;
    for (const CaseRecord& record : cases) values.insert(value(record));
    if (allowed || values.size() < 2) return;
    throw BadData(
        fmt::format("{} has records of {} {}: {}. Merge them apart, pass --replace to forget what the "
                    "results folder holds, --supersede to leave out all but the newest's, or --allow {} to pool them",
                    cases.front().provenance.device_key, values.size(), what, fmt::join(values, " and "), flag));
}

void refuse_mixtures(const Pool& pool, const std::vector<CaseRecord>& cases, const MergeOptions& options) {
    for (const DeviceInfo& device : pool.devices)
        if (device.name != pool.devices.front().name)
            throw BadData(
                "the device key " + device.key + " stands for two different devices, '" + pool.devices.front().name +
                "' and '" + device.name +
                "': merge their journals into different --results folders, or pass --supersede to leave out what "
                "the results folder holds");
    refuse_mixture(cases, options.allow_drivers, "drivers", "drivers", [](const CaseRecord& r) {
        return std::string(timed_driver(r.provenance)) + " / " + r.provenance.runtime;
    });
    refuse_mixture(cases, options.allow_builds, "builds", "builds",
                   [&](const CaseRecord& r) { return timed_build(r.provenance, pool.devices.front().kind); });
    refuse_mixture(cases, options.allow_caches, "cache modes", "caches",
                   [](const CaseRecord& r) { return r.provenance.cache; });
}

/// Leaves what the latest session's records may be pooled with.
void leave_out_superseded(Pool& pool, MergeReport& report) {
    if (pool.cases.empty()) return;
    const auto session = [](const CaseRecord& record) { return record.provenance.session; };
    const Provenance newest = std::ranges::max(pool.cases, {}, session).provenance;
    const DeviceKind kind = pool.devices.front().kind;
    const auto superseded = [&](const CaseRecord& record) {
        const Provenance& p = record.provenance;
        return timed_driver(p) != timed_driver(newest) ||
               std::tie(p.runtime, p.cache) != std::tie(newest.runtime, newest.cache) ||
               timed_build(p, kind) != timed_build(newest, kind);
    };
    pool.from_results -= static_cast<std::size_t>(std::count_if(
        pool.cases.begin(), pool.cases.begin() + static_cast<std::ptrdiff_t>(pool.from_results), superseded));
    report.superseded += std::erase_if(pool.cases, superseded);
}

std::size_t count_unpaired(const std::vector<CaseRecord>& cases) {
    std::map<std::string, std::set<std::string>> sessions;
    for (const CaseRecord& record : cases)
        if (record.status == Status::ok)
            sessions[record.family + "|" + record.problem].insert(record.provenance.session);
    return static_cast<std::size_t>(
        std::count_if(sessions.begin(), sessions.end(), [](const auto& entry) { return entry.second.size() > 1; }));
}

std::vector<MissingCases> find_missing(const Pool& pool, const std::vector<CaseRecord>& cases) {
    std::map<std::pair<std::string, std::string>, std::int64_t> present;
    for (const CaseRecord& record : cases) ++present[{record.family, record.problem}];
    std::vector<MissingCases> missing;
    std::map<std::string, std::pair<int, std::set<int>>> plans;  // shards, those seen
    std::set<std::pair<std::string, int>> counted;               // a resumed shard planned the same twice
    for (const PlanRecord& plan : pool.plans) {
        plans[plan.plan].first = plan.shards;
        plans[plan.plan].second.insert(plan.shard);
        if (!counted.emplace(plan.plan, plan.shard).second) continue;
        for (const auto& item : plan.items) {
            const auto found = present[{item.family, item.problem}];
            if (found < item.cases)
                missing.push_back({item.family, item.problem, plan.shard,
                                   fmt::format("{} of {} cases are missing", item.cases - found, item.cases)});
        }
    }
    for (const auto& [plan, shards] : plans)
        for (int shard = 1; shard <= shards.first; ++shard)
            if (!shards.second.contains(shard))
                missing.push_back({"", "", shard, fmt::format("shard {} of {} is missing", shard, shards.first)});
    return missing;
}

/// The latest, with the ceilings of the latest that knows them.
DeviceInfo described(const Pool& pool) {
    DeviceInfo device = pool.devices.back();
    const auto known = std::find_if(pool.devices.rbegin(), pool.devices.rend(),
                                    [](const DeviceInfo& each) { return each.bytes_per_second > 0; });
    if (known == pool.devices.rend()) return device;
    device.bytes_per_second = known->bytes_per_second;
    device.cached_bytes_per_second = known->cached_bytes_per_second;
    device.fp32_per_second = known->fp32_per_second;
    device.int_per_second = known->int_per_second;
    return device;
}

/// A case that was too short for the sweep that timed it keeps its row, so that training imputes its time and resuming
/// measures it.
void reopen_unresolved(Pool& pool, MergeReport& report) {
    for (CaseRecord& record : pool.cases) {
        const auto why = unresolved(record);
        if (!why) continue;
        report.warnings.push_back(fmt::format("{}: not measured: {}", record.key(), *why));
        record.status = Status::not_measured;
        record.reason = *why;
        record.verification.clear();
        record.samples_ns.clear();
        record.time_ns = record.time_lo_ns = record.time_hi_ns = 0;
    }
}

/// Times that cannot be true, from a broken clock or somebody else's file, must not stand among results: one
/// impossible winner would decide whole leaves. `find_missing` then names their cases.
void reject_implausible(Pool& pool, MergeReport& report) {
    const DeviceInfo device = described(pool);
    std::erase_if(pool.cases, [&](const CaseRecord& record) {
        const auto why = implausible(record, device);
        if (why) report.warnings.push_back(fmt::format("{}: implausible, left out: {}", record.key(), *why));
        return why.has_value();
    });
}

/// Earlier sweeps were given up, and so is what only they had planned.
void keep_latest_plan(std::vector<PlanRecord>& plans) {
    if (plans.empty()) return;
    const std::string latest = std::ranges::max_element(plans, {}, &PlanRecord::session)->plan;
    std::erase_if(plans, [&](const PlanRecord& plan) { return plan.plan != latest; });
}

/// Combines the pool's records into one device's results.
DeviceResults combine(const Pool& pool, const MergeOptions& options, MergeReport& report) {
    DeviceResults results{.device = described(pool), .cases = latest(pool, report), .missing = {}};
    if (!results.cases.empty()) refuse_mixtures(pool, results.cases, options);
    results.missing = find_missing(pool, results.cases);
    return results;
}

void clean(const std::string& key, Pool& pool, MergeReport& report) {
    if (pool.devices.empty()) throw BadData("the journals describe no device " + key + ": their first line is lost");
    reopen_unresolved(pool, report);
    reject_implausible(pool, report);
}

/// Says how much of a journal is damaged, if it is more than its writers can have torn.
void tell_damage(const fs::path& file, const Journal& journal, std::vector<std::string>& damaged) {
    if (!journal.is_damaged()) return;
    damaged.push_back(fmt::format("{} of the {} of {} hold no complete record", journal.damaged + journal.torn,
                                  counted(journal.lines, "line"), file.string()));
}

/// The journals' records by device key, and what was damaged in them.
std::map<std::string, Pool> read_pools(const std::vector<fs::path>& inputs, std::vector<std::string>& warnings,
                                       std::vector<std::string>& damaged) {
    std::map<std::string, Pool> pools;
    for (const fs::path& file : journal_files(inputs)) {
        Journal journal = load_journal(file);
        tell_damage(file, journal, damaged);
        for (const Damage& damage : journal.damage)
            warnings.push_back(fmt::format("{}: {} bytes at {} hold no complete record: {}", file.string(),
                                           damage.bytes, damage.offset, damage.reason));
        for (auto& device : journal.devices) pools[device.key].devices.push_back(std::move(device));
        for (auto& plan : journal.plans) pools[plan.device_key].plans.push_back(std::move(plan));
        for (auto& record : journal.cases) pools[record.provenance.device_key].cases.push_back(std::move(record));
    }
    return pools;
}

/// A journal that is reached under the name of a file of results would be lost, with all that it holds.
void refuse_to_destroy_journals(const std::vector<fs::path>& journals, const std::map<std::string, Pool>& pools,
                                const fs::path& root) {
    std::vector<NamedFile> inputs, outputs;
    for (const fs::path& journal : journals) inputs.push_back({"", journal.string()});
    for (const auto& [key, pool] : pools) {
        std::set<std::string> families;
        for (const CaseRecord& record : pool.cases) families.insert(record.family);
        for (const fs::path& file : result_files(root / key, families)) outputs.push_back({"", file.string()});
    }
    refuse_same_files(outputs, inputs);
}

MergeReport merge_device(const std::string& key, Pool pool, const fs::path& root, const MergeOptions& options) {
    const fs::path folder = root / key;
    MergeReport report{.device_key = key};
    clean(key, pool, report);
    if (!options.replace && fs::exists(folder / "device.json")) {
        DeviceResults before = load_results(folder);
        // Another machine that goes by the same key, as one where the hypervisor names the processor otherwise.
        if (options.supersede && before.device.name != pool.devices.back().name) {
            report.superseded = before.cases.size();
        } else {
            pool.devices.insert(pool.devices.begin(), before.device);
            pool.from_results = before.cases.size();
            pool.cases.insert(pool.cases.begin(), std::make_move_iterator(before.cases.begin()),
                              std::make_move_iterator(before.cases.end()));
        }
    }
    if (options.supersede) leave_out_superseded(pool, report);
    if (options.latest_plan) keep_latest_plan(pool.plans);
    const DeviceResults results = combine(pool, options, report);
    report.cases = results.cases.size();
    report.missing = results.missing;
    report.unpaired_problems = count_unpaired(results.cases);
    save_results(folder, results);
    return report;
}

}  // namespace

std::vector<MergeReport> merge_journals(const std::vector<fs::path>& inputs, const fs::path& root,
                                        const MergeOptions& options) {
    std::vector<std::string> warnings, damaged;
    std::vector<MergeReport> reports;
    auto pools = read_pools(inputs, warnings, damaged);
    if (options.replace && !damaged.empty())
        throw BadData(damaged.front() +
                      ": nothing is replaced by what is left; restore the journal, or merge it without --replace");
    refuse_to_destroy_journals(journal_files(inputs), pools, root);
    for (auto& [key, pool] : pools) reports.push_back(merge_device(key, std::move(pool), root, options));
    if (reports.empty()) return reports;
    reports.front().warnings.insert(reports.front().warnings.begin(), warnings.begin(), warnings.end());
    reports.front().damaged = std::move(damaged);
    return reports;
}

std::string code_identity(const CaseRecord& record) {
    const Provenance& p = record.provenance;
    return fmt::format("{}|{}|{}|{}|{}|{}|{}", p.device_key, record.key(), p.source_id, p.driver, p.runtime, p.build,
                       p.cache);
}

std::vector<DeviceResults> pool_journals(const std::vector<fs::path>& inputs, const MergeOptions& options,
                                         std::vector<std::string>& warnings) {
    std::vector<DeviceResults> all;
    std::vector<std::string> damaged;  // the warnings say what
    for (auto& [key, pool] : read_pools(inputs, warnings, damaged)) {
        MergeReport report;
        clean(key, pool, report);
        if (options.supersede) leave_out_superseded(pool, report);
        all.push_back(combine(pool, options, report));
        warnings.insert(warnings.end(), report.warnings.begin(), report.warnings.end());
    }
    return all;
}

std::map<std::string, const CaseRecord*> latest_by_case(std::span<const CaseRecord> records) {
    std::map<std::string, const CaseRecord*> latest;
    for (const CaseRecord& record : records) {
        const auto [entry, first] = latest.emplace(record.key(), &record);
        if (!first && supersedes(record, *entry->second)) entry->second = &record;
    }
    return latest;
}

std::string describe(const MergeReport& report, const fs::path& root) {
    constexpr std::size_t kShown = 10;
    std::string text;
    const auto list = [&](const auto& items, const auto& line) {
        for (std::size_t i = 0; i < std::min(kShown, items.size()); ++i) text += "  " + line(items[i]) + "\n";
        if (items.size() > kShown) text += fmt::format("  and {} more\n", items.size() - kShown);
    };
    text += fmt::format("{}: {}, {} of them from before\n", (root / report.device_key).string(),
                        counted(report.cases, "case"), report.kept);
    list(report.warnings, [](const std::string& warning) { return "warning: " + warning; });
    list(report.missing, [](const MissingCases& each) {
        return each.problem.empty() ? "missing: " + each.description
                                    : fmt::format("missing: {} {}: {}", each.family, each.problem, each.description);
    });
    if (report.superseded)
        text += fmt::format("  left out, of other drivers, builds or cache modes than the latest: {}\n",
                            counted(report.superseded, "record"));
    if (report.kept_wrong)
        text += fmt::format("  still wrong, because wrong once and right later with the same source: {}\n",
                            counted(report.kept_wrong, "case"));
    if (report.unpaired_problems)
        text += fmt::format("  with cases of several sessions, whose ratios are not paired: {}\n",
                            counted(report.unpaired_problems, "problem"));
    return text;
}

}  // namespace espalier::bench
