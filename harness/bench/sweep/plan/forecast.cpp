#include "harness/bench/sweep/plan/forecast.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>

#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/sweep/plan/plan.hpp"

namespace espalier::bench {
namespace {

double log_size_of(double bytes, double ops) { return std::log(1 + bytes + ops); }

double per_case(double seconds, std::size_t cases) { return cases == 0 ? 0 : seconds / static_cast<double>(cases); }

}  // namespace

Forecast::Forecast(const std::filesystem::path& results, const std::vector<std::filesystem::path>& journals,
                   CounterMode counters)
    : count_(counters != CounterMode::off) {
    std::vector<CaseRecord> cases;
    if (exists(results / "device.json")) cases = load_results(results).cases;
    for (const auto& journal : journals) std::ranges::move(load_journal(journal).cases, std::back_inserter(cases));
    std::ranges::stable_sort(cases, {}, [](const CaseRecord& record) { return record.provenance.session; });

    std::set<std::string> seen;  // results are merged from journals
    for (const CaseRecord& record : cases)
        if (seen.insert(record.key() + record.provenance.session).second) add(record);
    for (const auto& [family, problems] : families_)
        for (const auto& [problem, taken] : problems) {
            all_.measuring += taken.measuring, all_.cases += taken.cases;
            all_.counting += taken.counting, all_.counted_cases += taken.counted_cases;
        }
}

void Forecast::add(const CaseRecord& record) {
    const Conditions& conditions = record.conditions;
    if (!conditions.problem_seconds) return;
    const double counting = conditions.counting_seconds.value_or(0);
    const double measuring = *conditions.problem_seconds - counting;
    Taken& taken = families_[record.family][record.problem];
    // Of another sweep: the later one counts.
    if (taken.measuring != measuring)
        taken = {.measuring = measuring, .counting = counting, .log_size = log_size_of(record.bytes, record.ops)};
    ++taken.cases;
    taken.counted_cases += conditions.counting_seconds.has_value();
}

double Forecast::seconds(const PlannedProblem& planned, double otherwise) const {
    if (all_.cases == 0) return otherwise;
    const std::size_t cases = planned.runnable();
    const auto family = families_.find(std::string(planned.family->name()));
    if (family == families_.end()) return estimate(all_, cases);
    const Problems& problems = family->second;
    if (const auto same = problems.find(planned.problem); same != problems.end())
        return estimate(same->second, same->second.cases);
    const Cost cost = planned.family->cost(planned.problem);
    const double log_size = log_size_of(cost.bytes, cost.ops());
    const auto nearest = std::ranges::min_element(
        problems, {}, [&](const auto& entry) { return std::abs(entry.second.log_size - log_size); });
    return estimate(nearest->second, cases);
}

double Forecast::estimate(const Taken& similar, std::size_t cases) const {
    const Taken& counted = similar.counted_cases > 0 ? similar : all_;
    double each = per_case(similar.measuring, similar.cases);
    if (count_) each += per_case(counted.counting, counted.counted_cases);
    return each * static_cast<double>(cases);
}

}  // namespace espalier::bench
