// `espalier judge`: what the selectors cost on problems that no grid had.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/apps/sessions/what_runs.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/judge/over_data.hpp"
#include "harness/bench/judge/unseen.hpp"
#include "harness/bench/learn/regret.hpp"
#include "harness/bench/records/atomic_file.hpp"
#include "harness/bench/records/merge.hpp"
#include "harness/bench/records/stale.hpp"
#include "harness/bench/train/train.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/device_option.hpp"
#include "harness/cli/measured_devices.hpp"
#include "harness/cli/measuring.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/warnings.hpp"
#include "kernels/dispatch/forests.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
    MeasuringOptions measuring{
        .sweep = {.seed = 2026, .verification = Verification::once, .counters = CounterMode::off}};
    int problems = 300, kinds_of_data = 3;
    std::string results;  ///< empty: the default
    bool from_results = false, disturbed_too = false;
};

/// The families asked for; all that declare a domain if none is.
std::vector<std::string> families_to_judge(const std::vector<std::string>& asked) {
    std::vector<std::string> names;
    for (const std::string& name : asked)
        if (family_named(name).domain(DeviceKind::cpu).empty())
            throw Failure(ExitCode::usage,
                          name + " declares no domain to draw problems from: it leaves little to choose");
    for (const Family* family : families())
        if (!family->domain(DeviceKind::cpu).empty() && (asked.empty() || std::ranges::count(asked, family->name())))
            names.emplace_back(family->name());
    return names;
}

SweepOptions interpret(const Arguments& arguments) {
    SweepOptions options = interpret(arguments.measuring);
    options.results_folder = arguments.from_results ? results_to_read(arguments.results, {options.device})
                                                    : results_to_write(arguments.results);
    if (!options.variants.empty() && !options.resume)
        throw Failure(ExitCode::usage, "--variant adds to what the journal has of the others: give --resume, too");
    options.families = families_to_judge(options.families);
    // Apart from the grids' journals, which merging reads all of.
    options.journal_folder = options.results_folder / "journal" / "unseen";
    options.first_cases = learn::picks_and_rivals;
    options.problems = [count = static_cast<std::size_t>(arguments.problems), seed = options.seed,
                        kinds = static_cast<std::size_t>(arguments.kinds_of_data)](const Family& family,
                                                                                   const DeviceInfo& device) {
        const auto drawn = draw_problems(family, device.kind, seed, Stream::unseen, count);
        return learn::with_other_data(family, device.kind, drawn, kinds);
    };
    return options;
}

/// The journals' records of the problems that were drawn now: the latest of each case, from one build.
void store(const SweepOptions& options, const SweepSummary& summary) {
    const fs::path folder = unseen_folder(options.results_folder / summary.device_key);
    std::vector<NamedFile> inputs, outputs;
    for (const std::string& journal : summary.journals) inputs.push_back({"", journal});
    for (const fs::path& file : result_files(folder, {options.families.begin(), options.families.end()}))
        outputs.push_back({"", file.string()});
    refuse_same_files(outputs, inputs);
    std::vector<std::string> warnings;
    for (DeviceResults& results :
         pool_journals({summary.journals.begin(), summary.journals.end()}, {.supersede = true}, warnings)) {
        if (results.device.key != summary.device_key) continue;
        std::set<std::pair<std::string, std::string>> drawn;
        for (const std::string& family : options.families)
            for (const std::string& key : options.problems(family_named(family), results.device))
                drawn.emplace(family, key);
        const auto others = [&](const auto& entry) { return !drawn.contains({entry.family, entry.problem}); };
        std::erase_if(results.cases, others);
        std::erase_if(results.missing, others);
        save_results(folder, results, Packing::packed);
    }
    tell_warnings(warnings);
}

nlohmann::ordered_json verdict_json(const learn::Verdict& verdict) {
    nlohmann::ordered_json entry{
        {"problem", verdict.problem}, {"variant", verdict.pick.variant}, {"configuration", verdict.pick.configuration}};
    if (!verdict.best_variant.empty()) {
        entry["best_variant"] = verdict.best_variant;
        entry["best_configuration"] = verdict.best_configuration;
        entry["best_ns"] = verdict.best_ns;
    }
    if (verdict.unjudged.empty()) {
        entry["time_ns"] = verdict.time_ns;
        entry["regret"] = learn::rounded(verdict.regret());
    }
    if (!verdict.failed.empty()) entry["failed"] = printable(verdict.failed);
    if (!verdict.unjudged.empty()) entry["unjudged"] = printable(verdict.unjudged);
    return entry;
}

nlohmann::ordered_json judgement_json(const std::string& device_key, const learn::Judgement& judgement) {
    nlohmann::ordered_json entry{{"device", device_key},
                                 {"family", judgement.family->name()},
                                 {"effort", judgement.forest_sha256.empty() ? "tree" : "predict"},
                                 {"tree_devices", judgement.tree_devices},
                                 {"kept", judgement.other_tree.empty()},
                                 {"other_tree", judgement.other_tree},
                                 {"unseen", learn::unseen_figures(judgement)}};
    auto& verdicts = entry["verdicts"] = nlohmann::ordered_json::array();
    for (const learn::Verdict& verdict : judgement.verdicts) verdicts.push_back(verdict_json(verdict));
    return entry;
}

void print_heading() {
    to_stdout("{:<34} {:<16} {:>8} {:>7} {:>15} {:>7} {:>7} {:>7} {:>8} {:>6}\n", "device", "family", "problems",
              "regret", "95%", "P90", "P99", "max", "weighted", "exact");
}

/// Of the tree's figures, or of a plan's that predicts.
std::string name_of(const learn::Judgement& judgement) {
    return std::string(judgement.family->name()) + (judgement.forest_sha256.empty() ? "" : "*");
}

void print_row(const std::string& device_key, const learn::Judgement& judgement) {
    const learn::Grades& grades = judgement.grades;
    if (grades.regret.problems == 0) {
        to_stdout("{:<34} {:<16} {:>8}\n", device_key, name_of(judgement), 0);
        return;
    }
    const learn::Regret& regret = grades.regret;
    const std::string interval =
        fmt::format("{:.3f} to {:.3f}", regret.geomean_interval.lo, regret.geomean_interval.hi);
    to_stdout("{:<34} {:<16} {:>8} {:>7.3f} {:>15} {:>7.3f} {:>7.3f} {:>7.3f} {:>8.3f} {:>5.0f}%\n", device_key,
              name_of(judgement), regret.problems, regret.geomean, interval, regret.p90, grades.p99, regret.worst,
              grades.time_weighted, 100 * grades.exact_share);
    const learn::Verdict& worst = judgement.verdicts[grades.worst];
    to_stdout("  worst: {}: {}, {:.3f}x {}\n", printable(worst.problem),
              apps::what_runs(worst.pick.variant, worst.pick.configuration), worst.regret(),
              apps::what_runs(worst.best_variant, worst.best_configuration));
}

/// What the figures leave out, or count as what it is not.
void print_exceptions(const learn::Judgement& judgement) {
    std::map<std::string, std::vector<const learn::Verdict*>> reasons;
    for (const learn::Verdict& verdict : judgement.verdicts)
        if (!verdict.failed.empty())
            reasons["the pick failed, and counts as the slowest measured: " + verdict.failed].push_back(&verdict);
        else if (!verdict.unjudged.empty())
            reasons["not graded: " + verdict.unjudged].push_back(&verdict);
    for (const auto& [reason, verdicts] : reasons) {
        const learn::Verdict& first = *verdicts.front();
        to_stdout(
            "  {}: {}; {}{}\n", verdicts.size(), printable(reason), printable(first.problem),
            first.pick.variant.empty() ? "" : ": " + apps::what_runs(first.pick.variant, first.pick.configuration));
    }
}

/// Grades what is on file of one device, and writes the figures to its selector.json.
void judge_device(const Arguments& arguments, const SweepOptions& options, const std::string& device_key,
                  nlohmann::ordered_json& output) {
    const fs::path device_folder = options.results_folder / device_key, folder = unseen_folder(device_folder);
    if (!fs::exists(folder / "device.json"))
        throw Failure(ExitCode::bad_data, "no unseen problems of " + device_key + " in " + folder.string() +
                                              ": measure them with `espalier judge` there");
    const DeviceResults results = load_results(folder, options.families);
    const fs::path selectors = selectors_of(options.results_folder);
    learn::UnseenFigures figures, predicted;
    if (!arguments.measuring.json) print_heading();
    for (const std::string& name : options.families) {
        const std::vector<CaseRecord> records = cases_of(results, name);
        if (records.empty()) continue;
        for (const StaleVariant& stale : find_stale(records))
            to_stderr("{} {}: graded by old times: {}\n", device_key, name, printable(describe(stale)));
        const std::vector<CaseRecord> averaged = learn::over_data(family_named(name), records);
        const auto judge = [&](espalier::Effort effort) {
            const learn::Judgement judgement =
                learn::judge(family_named(name), results.device, averaged, selectors, arguments.disturbed_too, effort);
            if (arguments.measuring.json) {
                output.push_back(judgement_json(device_key, judgement));
            } else {
                print_row(device_key, judgement);
                print_exceptions(judgement);
            }
            return judgement;
        };
        const learn::Judgement judgement = judge(espalier::Effort::tree);
        predicted[name] = nullptr;
        if (fs::exists(selectors / name / (device_key + ".forest")))
            if (const auto by_forest = judge(espalier::Effort::predict); by_forest.other_tree.empty())
                predicted[name] = learn::unseen_figures(by_forest);
        if (judgement.other_tree.empty())
            figures[name] = learn::unseen_figures(judgement);
        else
            to_stderr("{} {}: the figures are not kept: {}\n", device_key, name, printable(judgement.other_tree, 4096));
    }
    if (figures.empty()) return;
    const learn::TrainedFile file = learn::with_unseen(device_folder, figures, predicted);
    if (file.exists && !file.same) write_file_atomically(file.path, file.contents);
}

void run(const Arguments& arguments, ExitCode& code) {
    const SweepOptions options = interpret(arguments);
    set_forest_folder(selectors_of(options.results_folder).string());
    auto output = nlohmann::ordered_json::array();
    const auto conclude = [&](const SweepOptions& shared, const SweepSummary& summary, bool) {
        if (summary.unfinished) return ExitCode::no_device;
        store(shared, summary);
        judge_device(arguments, shared, summary.device_key, output);
        return summary.failed() ? ExitCode::failed_variants : ExitCode::ok;
    };
    if (arguments.from_results)
        judge_device(arguments, options, described_device(options.device, options.results_folder).key, output);
    else
        code = measure(arguments.measuring, options, output, conclude);
    if (arguments.measuring.json) print_json(output, 2);
}

}  // namespace

void add_judge(CLI::App& program, ExitCode& code) {
    static Arguments arguments;
    SweepOptions& options = arguments.measuring.sweep;
    CLI::App& command = *program.add_subcommand(
        "judge", "Measure all variants on problems that no tree has seen, and grade the selectors");
    command
        .add_option("--device", options.device,
                    "cpu, a GPU as 0 or cuda:0, several with commas between them, or all; with --from-results also the "
                    "key of a device")
        ->capture_default_str();
    command
        .add_option("--variant", options.variants,
                    "measure only these variants: name or family/name; needs --resume, which keeps what the journal "
                    "has of the others")
        ->delimiter(',');
    add_number(command, "--problems", arguments.problems, "of each family; more are the same ones and further ones")
        ->check(within(1, 100000))
        ->capture_default_str();
    add_number(
        command, "--data", arguments.kinds_of_data,
        "measure each problem with up to so many kinds of data, where nobody knows which: times are averaged over them")
        ->check(within(1, 10))
        ->capture_default_str();
    command
        .add_flag("--allow-disturbed", arguments.disturbed_too,
                  "grade what was measured while others used the processors or the device was slowed down")
        ->envname("ESPALIER_ALLOW_DISTURBED");
    add_measuring_options(command, arguments.measuring);
    command.add_flag("--from-results", arguments.from_results, "measure nothing: grade the problems that are on file")
        ->excludes(command.get_option("--dry-run"));
    command.add_option("--results", arguments.results, kResultsHelp);
    command.callback([&code] { run(arguments, code); });
}

}  // namespace espalier::bench::cli
