#include "harness/bench/judge/to_count.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "harness/base/text/sha256.hpp"
#include "harness/bench/records/merge.hpp"
#include "kernels/dispatch/families.hpp"

namespace espalier::bench::learn {
namespace {

using Cases = std::vector<const CaseRecord*>;

/// The default problems of every effort: what is measured and not among them was drawn.
std::set<std::string> grid_of(const Family& family, DeviceKind kind) {
    std::set<std::string> grid;
    for (const Effort effort : {Effort::quick, Effort::standard, Effort::full})
        for (std::string& problem : family.default_problems(kind, effort)) grid.insert(std::move(problem));
    return grid;
}

/// Of each documented variant and problem the fastest case.
std::map<std::string, Cases> documented(std::span<const CaseRecord* const> timed) {
    std::map<std::pair<std::string, std::string>, const CaseRecord*> fastest;
    for (const CaseRecord* record : timed) {
        if (record->role != "documented") continue;
        const auto [entry, first] = fastest.emplace(std::pair(record->variant, record->problem), record);
        if (first) continue;
        const CaseRecord& other = *entry->second;
        // A counted one explains the variant as well as one that is a little faster.
        if (std::tuple(record->counters.empty(), record->time_ns) < std::tuple(other.counters.empty(), other.time_ns))
            entry->second = record;
    }
    std::map<std::string, Cases> by_variant;
    for (const auto& [name, record] : fastest) by_variant[name.first].push_back(record);
    return by_variant;
}

/// The cases of one problem by variant and configuration.
using ByChoice = std::map<std::pair<std::string, std::string>, const CaseRecord*>;

/// The first choice of a leaf's ranking and the first of another variant that were timed on a problem.
Cases first_two(const std::vector<Explanation::RankedChoice>& ranking, const ByChoice& cases) {
    Cases found;
    for (const Explanation::RankedChoice& choice : ranking) {
        if (!found.empty() && found.front()->variant == choice.variant) continue;
        const std::string& runs = choice.same_as.empty() ? choice.configuration : choice.same_as;
        const auto timed = cases.find({choice.variant, runs});
        if (timed != cases.end()) found.push_back(timed->second);
        if (found.size() == 2) break;
    }
    return found;
}

/// In each leaf of the device's tree the cases of the problem that has the most of both: one that has the first choice,
/// then one that has another variant, too, then one with more counters, then the one that comes first.
std::map<int, Cases> choices_of_leaves(const Family& family, const DeviceInfo& device,
                                       const std::map<std::string, ByChoice>& problems) {
    const auto counted = [](const CaseRecord* record) { return !record->counters.empty(); };
    const auto worth = [&](const Cases& cases, const std::string& first) {
        return std::tuple(!cases.empty() && cases.front()->variant == first, cases.size(),
                          std::ranges::count_if(cases, counted));
    };
    std::map<int, Cases> leaves;
    for (const auto& [hash, cases] : problems) {
        const auto why = explain(family.name(), cases.begin()->second->problem, device, nullptr);
        if (!why || why.value().tree_device != device.key || why.value().other_leaf) continue;
        Cases two = first_two(why.value().ranking, cases);
        Cases& chosen = leaves[why.value().leaf];
        const std::string& first = why.value().ranking.front().variant;
        if (worth(two, first) > worth(chosen, first)) chosen = std::move(two);
    }
    return leaves;
}

}  // namespace

std::set<std::string> cases_to_count(const Family& family, const DeviceInfo& device,
                                     std::span<const CaseRecord> records, std::size_t problems) {
    Cases timed;
    std::map<std::string, std::string> order;  // of a problem
    std::map<std::string, ByChoice> by_problem;
    for (const auto& [key, record] : latest_by_case(records)) {
        if (record->status != Status::ok || record->family != family.name()) continue;
        timed.push_back(record);
        std::string& hash = order[record->problem];
        if (hash.empty()) hash = sha256(record->problem);
        by_problem[hash][{record->variant, record->configuration}] = record;
    }
    const std::set<std::string> grid = grid_of(family, device.kind);
    std::set<std::string> keys;
    for (auto& [variant, cases] : documented(timed)) {
        std::ranges::sort(cases, {}, [&](const CaseRecord* record) {
            return std::tuple(grid.contains(record->problem), record->counters.empty(), order.at(record->problem));
        });
        cases.resize(std::min(cases.size(), problems));
        for (const CaseRecord* record : cases) keys.insert(record->key());
    }
    for (const auto& [leaf, cases] : choices_of_leaves(family, device, by_problem))
        for (const CaseRecord* record : cases) keys.insert(record->key());
    return keys;
}

}  // namespace espalier::bench::learn
