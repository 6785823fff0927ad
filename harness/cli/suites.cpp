#include "harness/cli/suites.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "harness/base/failure.hpp"
#include "harness/bench/judge/to_count.hpp"
#include "harness/bench/records/listed_problems.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/sweep/record/uncounted.hpp"

namespace espalier::bench::cli {

void draw_from_domains(SweepOptions& options, std::size_t count) {
    options.sample = true;
    options.problems = [count, seed = options.seed, effort = options.effort](const Family& family,
                                                                             const DeviceInfo& device) {
        return family.domain(device.kind).empty() ? family.default_problems(device.kind, effort)
                                                  : draw_problems(family, device.kind, seed, Stream::sweep, count);
    };
}

namespace {

/// Whether a case that tables have, "K3 K4", is of one of those that are asked for; of any if none is.
bool is_of(const std::string& tables, const std::vector<std::string>& wanted) {
    std::istringstream names(tables);
    return std::any_of(std::istream_iterator<std::string>(names), {},
                       [&](const std::string& name) { return wanted.empty() || std::ranges::count(wanted, name) > 0; });
}

}  // namespace

void choose_published(SweepOptions& options, const std::vector<std::string>& tables) {
    options.problems = [](const Family& family, const DeviceInfo& device) {
        return published_problems(family, device.kind);
    };
    const auto of = [known = std::make_shared<std::map<const Family*, std::vector<PublishedProblem>>>()](
                        const Family& family) -> const std::vector<PublishedProblem>& {
        auto [entry, added] = known->try_emplace(&family);
        if (added) entry->second = family.published();
        return entry->second;
    };
    options.has_case = [of, tables](const Family& family, std::string_view problem, const VariantInfo& variant,
                                    const Configuration& configuration) {
        return is_of(tables_with(of(family), problem, variant.name, configuration), tables);
    };
    options.every_counter = true;
}

void choose_recorded(SweepOptions& options) {
    options.problems = [results = options.results_folder](const Family& family, const DeviceInfo& device) {
        const std::filesystem::path folder = results / device.key;
        if (!std::filesystem::exists(folder / "device.json"))
            throw Failure(ExitCode::bad_data, "--suite recorded: there are no results of " + device.key + " in " +
                                                  results.string() + "; sweep without --suite, or name --results");
        std::set<std::string> keys;
        const std::vector<std::string> families{std::string(family.name())};
        for (CaseRecord& record : load_results(folder, families).cases) keys.insert(std::move(record.problem));
        return std::vector<std::string>(keys.begin(), keys.end());
    };
}

void choose_listed(SweepOptions& options, const std::string& file) {
    const auto listed = std::make_shared<const std::vector<ListedProblem>>(read_listed_problems(file));
    options.problems = [listed](const Family& family, const DeviceInfo&) {
        std::vector<std::string> keys;
        for (const ListedProblem& asked : *listed)
            if (asked.family == family.name() && std::ranges::find(keys, asked.problem) == keys.end())
                keys.push_back(asked.problem);
        return keys;
    };
}

void choose_what_explains(SweepOptions& options) {
    const auto chosen = std::make_shared<std::set<std::string>>();
    options.problems = [chosen, results = options.results_folder, journals = options.journal_folder](
                           const Family& family, const DeviceInfo& device) {
        const std::vector<std::string> families{std::string(family.name())};
        const auto records = records_on_file(results / device.key, journals_of(journals, device.key), families);
        std::set<std::string> problems;
        for (const std::string& key : learn::cases_to_count(family, device, records)) {
            problems.insert(key.substr(key.find('|') + 1, key.rfind('|') - key.find('|') - 1));
            chosen->insert(key);
        }
        return std::vector<std::string>(problems.begin(), problems.end());
    };
    options.has_case = [chosen](const Family& family, std::string_view problem, const VariantInfo& variant,
                                const Configuration& configuration) {
        return chosen->contains(CaseRecord{.family = std::string(family.name()),
                                           .variant = std::string(variant.name),
                                           .role = {},
                                           .problem = std::string(problem),
                                           .configuration = configuration.text()}
                                    .key());
    };
}

}  // namespace espalier::bench::cli
