#include "harness/bench/judge/over_data.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "harness/bench/families/domain.hpp"
#include "harness/bench/records/disturbance.hpp"

namespace espalier::bench::learn {
namespace {

using Cases = std::vector<const CaseRecord*>;

/// With the defaults of what a caller does not know; as it is if it is none of the family's, of which the grades tell.
std::string known_part(const Family& family, const std::string& problem) try {
    const auto features = family.features();
    const std::vector<double> defaults = family.feature_values("");
    std::vector<double> values = family.feature_values(problem);
    for (std::size_t f = 0; f < features.size(); ++f)
        if (!features[f].known) values[f] = defaults[f];
    return family.key_of(values);
} catch (const BadProblem&) {
    return problem;
}

/// One choice with each of `kinds` data.
CaseRecord mean_of(const Cases& cases, std::size_t kinds) {
    if (kinds == 1) return *cases.front();
    const auto other = std::ranges::find_if(cases, [](const CaseRecord* c) { return c->status != Status::ok; });
    if (other != cases.end()) return **other;
    const auto disturbed = std::ranges::find_if(cases, [](const CaseRecord* c) { return bool(disturbance_of(*c)); });
    CaseRecord mean = disturbed == cases.end() ? *cases.front() : **disturbed;
    for (double CaseRecord::*const time : {&CaseRecord::time_ns, &CaseRecord::time_lo_ns, &CaseRecord::time_hi_ns}) {
        double logs = 0;
        for (const CaseRecord* record : cases) logs += std::log(record->*time);
        mean.*time = std::exp(logs / static_cast<double>(cases.size()));
    }
    if (cases.size() == kinds) return mean;
    mean.status = Status::not_measured;
    mean.reason = "not with all of its data";
    return mean;
}

/// Those of variants that the library may choose, and of ones that are unknown here.
Cases of_choices(const Family& family, std::span<const CaseRecord> records) {
    Cases cases;
    for (const CaseRecord& record : records) {
        const std::size_t variant = family.find(record.variant);
        if (variant == Family::npos || family.variants()[variant].choosable()) cases.push_back(&record);
    }
    return cases;
}

/// Leaves out data that say too little of a pick: fewer than half as many choices were timed with them as with others,
/// and none failed.
void leave_out_hardly_measured(std::map<std::string, Cases>& data) {
    const auto timed = [](const Cases& cases) {
        return std::ranges::count_if(cases, [](const CaseRecord* c) { return c->status == Status::ok; });
    };
    std::ptrdiff_t most = 0;
    for (const auto& [problem, cases] : data) most = std::max(most, timed(cases));
    std::erase_if(data, [&](const auto& of_problem) {
        const Cases& cases = of_problem.second;
        return 2 * timed(cases) < most &&
               std::ranges::none_of(cases, [](const CaseRecord* c) { return is_failure(c->status); });
    });
}

}  // namespace

std::vector<std::string> with_other_data(const Family& family, DeviceKind kind, std::span<const std::string> problems,
                                         std::size_t kinds) {
    const Domain domain = family.domain(kind);
    std::set<std::string> taken(problems.begin(), problems.end());
    std::vector<std::string> all;
    for (const std::string& problem : problems) {
        all.push_back(problem);
        const std::size_t number = all.size();  // each begins with other data, lest the first ones be measured most
        std::size_t left = kinds - 1;
        for (const FeatureInfo& feature : family.features()) {
            const auto axis = std::ranges::find(domain.alternatives, feature.name, &Alternatives::axis);
            if (feature.known || axis == domain.alternatives.end()) continue;
            for (std::size_t i = 0; i < axis->values.size() && left > 0; ++i) {
                const auto& value = axis->values[(number + i) % axis->values.size()];
                std::string key =
                    family.canonical(problem + ";" + std::string(feature.name) + "=" + std::string(value.text));
                if (value.weight == 0 || stream_of(family.name(), key) != Stream::unseen || !taken.insert(key).second)
                    continue;
                all.push_back(std::move(key));
                --left;
            }
        }
    }
    return all;
}

std::vector<CaseRecord> over_data(const Family& family, std::span<const CaseRecord> records) {
    struct Group {
        std::map<std::string, Cases> data;  ///< by problem
        std::map<std::pair<std::string, std::string>, Cases> choices{};
    };
    const Cases of_all = of_choices(family, records);
    std::map<std::string, std::string> known_parts;
    std::map<std::string, Group> groups;
    for (const CaseRecord* const record : of_all) {
        auto& known = known_parts[record->problem];
        if (known.empty()) known = known_part(family, record->problem);
        groups[known].data[record->problem].push_back(record);
    }
    for (auto& [known, group] : groups) {
        leave_out_hardly_measured(group.data);
        for (const auto& [problem, cases] : group.data)
            for (const CaseRecord* record : cases)
                group.choices[{record->variant, record->configuration}].push_back(record);
    }
    std::vector<CaseRecord> all;  // each choice where the records have it first
    for (const CaseRecord* const record : of_all) {
        const Group& group = groups.at(known_parts.at(record->problem));
        const auto choice = group.choices.find({record->variant, record->configuration});
        if (choice == group.choices.end() || choice->second.front() != record) continue;
        all.push_back(mean_of(choice->second, group.data.size()));
        all.back().problem = group.data.begin()->first;
    }
    return all;
}

}  // namespace espalier::bench::learn
