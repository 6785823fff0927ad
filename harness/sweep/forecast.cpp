#include "harness/sweep/forecast.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "harness/records/journal.hpp"
#include "harness/records/results.hpp"

namespace espalier {

Forecast::Forecast(const std::filesystem::path& results, const std::vector<std::filesystem::path>& journals) {
    std::vector<CaseRecord> cases;
    if (exists(results / "device.json")) cases = load_results(results).cases;
    for (const auto& journal : journals) std::ranges::move(load_journal(journal).cases, std::back_inserter(cases));
    std::ranges::stable_sort(cases, {}, [](const CaseRecord& record) { return record.provenance.session; });

    std::set<std::string> seen;  // results are merged from journals
    for (const CaseRecord& record : cases) {
        if (!seen.insert(record.key() + record.provenance.session).second) continue;
        const auto found = std::ranges::find(record.conditions, kProblemSeconds, [](const auto& c) { return c.first; });
        if (found == record.conditions.end()) continue;
        Taken& taken = problems_[{record.family, record.problem}];
        if (taken.seconds != found->second) taken = {found->second, 0};  // of another sweep: the later one counts
        ++taken.cases;
    }
    for (const auto& [key, taken] : problems_)
        for (Taken* sum : {&families_[key.first], &all_}) sum->seconds += taken.seconds, sum->cases += taken.cases;
}

double Forecast::seconds(const std::string& family, const std::string& problem, std::size_t cases,
                         double otherwise) const {
    if (const auto same = problems_.find({family, problem}); same != problems_.end()) return same->second.seconds;
    const auto known = families_.find(family);
    const Taken& similar = known == families_.end() ? all_ : known->second;
    if (similar.cases == 0) return otherwise;
    return similar.seconds / static_cast<double>(similar.cases) * static_cast<double>(cases);
}

}  // namespace espalier
