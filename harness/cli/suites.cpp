#include "harness/cli/suites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "harness/base/failure.hpp"
#include "harness/base/files/read_file.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/bench/judge/to_count.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/sweep/record/uncounted.hpp"
#include "harness/cli/parse.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/text_lines.hpp"

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

namespace {

/// What a program asked for of one problem, in all.
struct Asked {
    double nanoseconds = 0, calls = 0;
    [[nodiscard]] auto weight() const { return std::tuple(-nanoseconds, -calls); }
};
using AskedProblems = std::map<std::string, std::map<std::string, Asked>>;  ///< by family and canonical key

[[noreturn]] void refuse_line(const std::string& file, std::size_t number, const std::string& why) {
    throw Failure(ExitCode::bad_data, fmt::format("{}: line {}: {}", printable(file), number, printable(why)));
}

/// "family=dot problem=elements=5 calls=3 ..." as its fields.
std::map<std::string, std::string> fields_of(const std::string& line) {
    std::map<std::string, std::string> fields;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos) throw BadData("'" + word + "' is no name=value");
        fields[word.substr(0, equals)] = word.substr(equals + 1);
    }
    for (const char* name : {"family", "problem"})
        if (!fields.contains(name)) throw BadData(std::string("it lacks ") + name + "=");
    return fields;
}

double number_of(const std::map<std::string, std::string>& fields, const char* name) {
    const auto field = fields.find(name);
    if (field == fields.end()) return 0;
    const double number = number_in(field->second);
    if (!(number >= 0)) throw BadData(std::string(name) + "=" + field->second + " is no number from 0 on");
    return number;
}

AskedProblems read_asked(const std::string& file) {
    AskedProblems problems;
    for_each_line(read_named_file(file), [&](std::string_view line, std::size_t number) {
        try {
            const auto fields = fields_of(std::string(line));
            const Family* const family = find_family(fields.at("family"));
            if (!family) throw BadData("no family is called " + fields.at("family"));
            Asked& asked = problems[fields.at("family")][family->canonical(fields.at("problem"))];
            asked.nanoseconds += number_of(fields, "nanoseconds");
            asked.calls += number_of(fields, "calls");
        } catch (const BadData& error) {
            refuse_line(file, number, error.what());
        } catch (const BadProblem& error) {
            refuse_line(file, number, error.what());
        }
    });
    if (problems.empty())
        throw Failure(ExitCode::bad_data,
                      printable(file) + " lists no problem: run a program with ESPALIER_RECORD=" + printable(file));
    return problems;
}

}  // namespace

void choose_listed(SweepOptions& options, const std::string& file) {
    const auto asked = std::make_shared<const AskedProblems>(read_asked(file));
    options.problems = [asked](const Family& family, const DeviceInfo&) {
        std::vector<std::string> keys;
        const auto of = asked->find(std::string(family.name()));
        if (of == asked->end()) return keys;
        for (const auto& [key, times] : of->second) keys.push_back(key);
        std::ranges::stable_sort(keys, {}, [&](const std::string& key) { return of->second.at(key).weight(); });
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
