#include "harness/cli/tune_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stdout.hpp"

namespace espalier::bench::cli {
namespace {

using tune::Description;
using tune::Invalidity;
using tune::Outcome;
using tune::Tuning;

constexpr std::size_t kShown = 5;

std::vector<const Outcome*> timed_of(const Tuning& tuning, std::size_t problem) {
    std::vector<const Outcome*> timed;
    for (const Outcome& one : tuning.outcomes)
        if (one.problem == problem && one.timed()) timed.push_back(&one);
    std::ranges::sort(timed, [](const Outcome* a, const Outcome* b) {
        return a->final != b->final ? a->final : a->time_ns < b->time_ns;
    });
    return timed;
}

std::size_t tried(const Tuning& tuning, std::size_t problem) {
    return static_cast<std::size_t>(std::ranges::count(tuning.outcomes, problem, &Outcome::problem));
}

/// "3 compile, 1 correctness"
std::string invalid_ones(const Tuning& tuning, std::size_t problem) {
    std::map<std::string, int> counts;
    for (const Outcome& one : tuning.outcomes)
        if (one.problem == problem && one.invalidity != Invalidity::correct) ++counts[to_string(one.invalidity)];
    std::string text;
    for (const auto& [name, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
    return text;
}

void print_problem(const Description& description, const Tuning& tuning, std::size_t problem) {
    const std::vector<const Outcome*> timed = timed_of(tuning, problem);
    const auto& count = problem < tuning.configurations.size() ? tuning.configurations[problem] : std::nullopt;
    const std::string invalid = invalid_ones(tuning, problem);
    to_stdout("{}: {} of {} configurations tried, {} valid{}\n", printable(description.problem_key(problem)),
              tried(tuning, problem), count ? std::to_string(*count) : "many", timed.size(),
              invalid.empty() ? "" : "; invalid: " + invalid);
    if (!timed.empty()) to_stdout("  {:>12} {:>12} {:>12} {:>9}  configuration\n", "time us", "low", "high", "of best");
    for (std::size_t i = 0; i < std::min(kShown, timed.size()); ++i) {
        const Outcome& one = *timed[i];
        to_stdout("  {:>12.3f} {:>12.3f} {:>12.3f} {:>9.3f}  {}\n", one.time_ns / 1e3, one.low_ns / 1e3,
                  one.high_ns / 1e3, one.time_ns / timed.front()->time_ns,
                  printable(description.configuration_text(one.configuration)));
    }
    std::map<std::string, const Outcome*> reasons;
    for (const Outcome& one : tuning.outcomes)
        if (one.problem == problem && one.invalidity != Invalidity::correct)
            reasons.emplace(to_string(one.invalidity), &one);
    for (const auto& [name, one] : reasons)
        to_stdout("  {}, for example {}: {}\n", name, printable(description.configuration_text(one->configuration)),
                  printable(one->reason, 300));
}

}  // namespace

nlohmann::ordered_json tune_summary(const Description& description, const Tuning& tuning, const tune::Bench& bench) {
    nlohmann::ordered_json problems = nlohmann::ordered_json::array();
    for (std::size_t problem = 0; problem < description.sizes.size(); ++problem) {
        nlohmann::ordered_json one{{"problem", description.problem_key(problem)},
                                   {"tried", tried(tuning, problem)},
                                   {"valid", timed_of(tuning, problem).size()}};
        if (const Outcome* best = tuning.best(problem)) {
            one["best"] = description.configuration_text(best->configuration);
            one["time_ns"] = best->time_ns;
            one["time_interval_ns"] = {best->low_ns, best->high_ns};
            one["known_after_seconds"] = best->at_seconds;
        }
        problems.push_back(one);
    }
    return {{"kernel", description.launch.kernel},
            {"device", bench.device().key},
            {"complete", tuning.complete},
            {"seconds", bench.elapsed()},
            {"problems", problems}};
}

void print_tuning(const Description& description, const Tuning& tuning, const tune::Bench& bench,
                  const std::optional<tune::Pick>& pick) {
    to_stdout("{} on {}, {:.1f} s\n", printable(description.launch.kernel), printable(bench.device().name),
              bench.elapsed());
    for (std::size_t problem = 0; problem < description.sizes.size(); ++problem)
        print_problem(description, tuning, problem);
    if (pick)
        to_stdout(
            "tree: {} of {}; {:.3f} times the best configuration's time on them, one configuration for all {:.3f}\n",
            counted(static_cast<std::int64_t>(pick->tree.leaves.size()), "leaf", "leaves"),
            counted(static_cast<std::int64_t>(pick->problems), "problem"), pick->regret, pick->one_regret);
}

}  // namespace espalier::bench::cli
