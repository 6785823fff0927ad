// `espalier compare`: what became slower or broke between two sweeps of one device, or between two sets of sweeps.

#include "harness/bench/compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/base/files/same_file.hpp"
#include "harness/bench/records/roofline.hpp"
#include "harness/bench/report/page.hpp"
#include "harness/cli/case_filter.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/comparison_report.hpp"
#include "harness/cli/parse.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/warnings.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
    std::vector<std::string> words;
    CaseFilter filter;
    std::string threshold = "5%", html;
    std::vector<std::string> allow;
    bool allow_disturbed = false, json = false, all = false;
};

struct SidePaths {
    std::vector<std::string> before, after;
};

/// Two paths are a side each; more have `--` between the sides.
SidePaths sides_of(const std::vector<std::string>& words) {
    constexpr const char* kUsage = "name two sweeps, or several a side with -- between the sides: A1 A2 -- B1 B2";
    const auto between = std::ranges::find(words, kBetweenSides);
    if (between == words.end()) {
        if (words.size() == 2) return {{words[0]}, {words[1]}};
        throw Failure(ExitCode::usage, fmt::format("{} to compare: {}", words.size(), kUsage));
    }
    if (std::count(between, words.end(), kBetweenSides) > 1)
        throw Failure(ExitCode::usage, fmt::format("-- is there twice: {}", kUsage));
    SidePaths sides{{words.begin(), between}, {between + 1, words.end()}};
    if (sides.before.empty() || sides.after.empty())
        throw Failure(ExitCode::usage,
                      fmt::format("no sweep {} --: {}", sides.before.empty() ? "before" : "after", kUsage));
    return sides;
}

/// One sweep: a device's folder of results, a journal or a folder of journals.
DeviceResults load_sweep(const fs::path& path, const MergeOptions& allow) {
    if (!fs::exists(path)) throw BadData(path.string() + " is not there: check the path");
    if (fs::exists(path / "device.json")) {
        DeviceResults results = load_results(path);
        for (const CaseRecord& record : results.cases)
            if (const auto why = implausible(record, results.device))
                throw BadData(fmt::format("{}: {} is implausible: {}: espalier verify lists all that are",
                                          path.string(), record.key(), *why));
        return results;
    }
    std::vector<std::string> warnings;
    auto devices = pool_journals({path}, allow, warnings);
    tell_warnings(warnings);
    if (devices.empty())
        throw BadData(path.string() + " holds no complete record: name a journal, or a folder of results");
    if (devices.size() != 1)
        throw BadData(fmt::format("{} holds times of {} devices: name the journal or the folder of one", path.string(),
                                  devices.size()));
    return std::move(devices.front());
}

/// The cases that are asked for of each sweep. Throws if a sweep has none of them.
std::vector<ComparedSweep> load_side(const std::vector<std::string>& paths, const CaseFilter& filter,
                                     const MergeOptions& allow) {
    std::vector<ComparedSweep> side;
    for (const std::string& path : paths) {
        ComparedSweep sweep{path, load_sweep(path, allow)};
        std::set<std::string> axes;
        for (const CaseRecord& record : sweep.results.cases)
            for (const auto& [axis, value] : record.features) axes.insert(axis);
        std::erase_if(sweep.results.cases, [&](const CaseRecord& record) { return !filter.asks_for(record); });
        if (filter.active() && sweep.results.cases.empty())
            throw Failure(ExitCode::bad_data,
                          filter.unknown_axis(axes).value_or(path + " has no case of that kind: ask for more"));
        side.push_back(std::move(sweep));
    }
    return side;
}

/// Before anything is written: by a link, the page may lead back into what is compared.
void refuse_to_destroy_results(const Arguments& arguments, const SidePaths& sides) {
    std::vector<NamedFile> inputs;
    for (const auto* side : {&sides.before, &sides.after})
        for (const std::string& path : *side)
            if (fs::is_directory(path))
                for (const auto& entry : fs::directory_iterator(path)) inputs.push_back({"", entry.path().string()});
            else
                inputs.push_back({"", path});
    refuse_same_files({{"--html", arguments.html}}, inputs);
}

void write_html(const Arguments& arguments, const SidePaths& sides, const Comparison& comparison) {
    try {
        report::write_comparison_page(
            comparison_json(comparison).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
            fmt::format("{}", fmt::join(sides.before, ", ")), fmt::format("{}", fmt::join(sides.after, ", ")),
            arguments.html);
    } catch (const report::PageError& error) {
        throw Failure(error.bad_data() ? ExitCode::bad_data : ExitCode::usage, error.what());
    }
}

CompareOptions options_of(const Arguments& arguments) {
    CompareOptions options;
    options.threshold = parse_share(arguments.threshold, "--threshold");
    options.allow_disturbed = arguments.allow_disturbed;
    for (const std::string& what : arguments.allow) {
        options.pool.allow_drivers |= what == "drivers";
        options.pool.allow_builds |= what == "builds";
        options.pool.allow_caches |= what == "caches";
    }
    return options;
}

void run(Arguments& arguments, ExitCode& code) {
    const SidePaths sides = sides_of(arguments.words);
    arguments.filter.interpret();
    const CompareOptions options = options_of(arguments);
    if (!arguments.html.empty()) refuse_to_destroy_results(arguments, sides);
    const auto before = load_side(sides.before, arguments.filter, options.pool);
    const auto after = load_side(sides.after, arguments.filter, options.pool);
    const Comparison comparison = compare(before, after, options);
    if (comparison.cases.empty() && comparison.broken.empty())
        throw BadData("the two have no case in common that was ok: measure the same families and problems");
    if (!arguments.html.empty()) write_html(arguments, sides, comparison);
    tell_limits(comparison);
    if (arguments.json)
        print_json(comparison_json(comparison), 1);
    else
        print_comparison(comparison, arguments.all);
    if (comparison.regression()) code = ExitCode::regression;
}

}  // namespace

void add_compare(CLI::App& program, ExitCode& code) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App& command =
        *program.add_subcommand("compare", "Compare two sweeps of one device, or several sessions a side");
    command
        .add_option("sweeps", arguments->words,
                    "BEFORE AFTER, or BEFORE... -- AFTER...: each results/<device-key>, a journal or a folder of "
                    "journals, and a session of its own")
        ->required();
    command.add_option("--threshold", arguments->threshold, "difference that counts, if it is more than noise, too")
        ->capture_default_str();
    arguments->filter.add_options(command);
    command.add_option("--allow", arguments->allow, "compare across drivers, builds or caches (cold, clean and warm)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(one_of({"drivers", "builds", "caches"}));
    command.add_flag("--allow-disturbed", arguments->allow_disturbed,
                     "judge what was measured while others used the machine, too; takes several sessions a side");
    command.add_flag("--all", arguments->all, "also the cases that are the same");
    command.add_flag("--json", arguments->json, "every variant and case, as JSON");
    command.add_option("--html", arguments->html, "also write a page of every case to this file; needs Python");
    set_footer(command,
               "What moves all variants of a problem together is the machine's: reported once, not counted.\n"
               "Exit code 5: a variant or a case became slower relative to the others, or a case broke.");
    command.callback([arguments, &code] { run(*arguments, code); });
}

}  // namespace espalier::bench::cli
