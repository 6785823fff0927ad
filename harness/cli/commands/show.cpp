// `espalier show`: which variant won on which problem, and how fast it was, in any results or journals.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/records/disturbance.hpp"
#include "harness/bench/records/interval.hpp"
#include "harness/bench/records/merge.hpp"
#include "harness/bench/report/winners.hpp"
#include "harness/cli/case_filter.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/measured_devices.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/warnings.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
    std::vector<std::string> paths;
    CaseFilter filter;
    std::uint64_t limit = 0;  ///< 0: none
    bool json = false;
};

/// What to say when nothing is of the kind asked for: an axis may be mistyped.
std::string nothing_found(const CaseFilter& filter, const std::set<std::string>& axes) {
    return filter.unknown_axis(axes).value_or("no case with a time is of that kind: ask for more, or measure it first");
}

/// A folder of results, one of several devices' results, a journal or a folder of journals.
std::vector<DeviceResults> load(const fs::path& path) {
    if (!fs::exists(path))
        throw BadData(path.string() + " is not there: check the path, or measure with espalier sweep");
    std::vector<DeviceResults> all;
    if (fs::exists(path / "device.json")) {
        all.push_back(load_results(path));
        return all;
    }
    std::vector<fs::path> folders;
    if (fs::is_directory(path))
        for (const auto& entry : fs::directory_iterator(path))
            if (fs::exists(entry.path() / "device.json")) folders.push_back(entry.path());
    std::ranges::sort(folders);
    for (const fs::path& folder : folders) all.push_back(load_results(folder));
    if (!all.empty()) return all;
    std::vector<std::string> warnings;
    all = pool_journals({path}, {.allow_drivers = true, .allow_builds = true, .allow_caches = true}, warnings);
    tell_warnings(warnings);
    return all;
}

nlohmann::ordered_json to_json(const std::string& device, const report::Winner& winner) {
    const CaseRecord& best = *winner.best;
    nlohmann::ordered_json json{{"device", device},
                                {"family", best.family},
                                {"problem", best.problem},
                                {"wins", winner.wins()},
                                {"variant", best.variant},
                                {"configuration", best.configuration},
                                {"time_ns", best.time_ns},
                                {"interval_ns", nullptr},
                                {"samples", best.samples_ns.size()},
                                {"roofline_share", winner.roofline_share()},
                                {"disturbed", disturbance_name(best)},
                                {"timed_cases", winner.timed},
                                {"disturbed_cases", winner.disturbed}};
    if (const auto interval = interval_of(best)) json["interval_ns"] = {interval->lo, interval->hi};
    if (winner.next) json.update({{"next_variant", winner.next->variant}, {"next_slowdown", winner.margin()}});
    return json;
}

/// Shows the winners of one device; returns how many problems have a time.
std::size_t show(const DeviceResults& results, std::span<const CaseRecord* const> cases, const Arguments& arguments,
                 nlohmann::ordered_json& output) {
    const std::size_t most = arguments.limit > 0 ? arguments.limit : std::numeric_limits<std::size_t>::max();
    const std::vector<report::Winner> winners = report::find_winners(cases);
    for (const report::Winner& winner : winners) output.push_back(to_json(results.device.key, winner));
    if (!arguments.json && !winners.empty())
        to_stdout("{}\n{}", printable(results.device.key), report::winners_table(winners, most));
    DisturbedProblems disturbed;
    for (const CaseRecord* record : cases) disturbed.add(*record);
    if (const std::string warning = disturbed.warning(); !warning.empty())
        to_stderr("warning: {}: {}\n", printable(results.device.key), warning);
    return winners.size();
}

void run(Arguments& arguments) {
    arguments.filter.interpret();
    auto output = nlohmann::ordered_json::array();
    std::size_t shown = 0;
    std::set<std::string> axes;  // that any record has
    const std::vector<std::string> usual{results_to_read("")};
    for (const std::string& path : arguments.paths.empty() ? usual : arguments.paths)
        for (const DeviceResults& results : load(path)) {
            std::vector<const CaseRecord*> cases;
            for (const CaseRecord& record : results.cases) {
                if (arguments.filter.asks_for(record)) cases.push_back(&record);
                for (const auto& [axis, value] : record.features) axes.insert(axis);
            }
            shown += show(results, cases, arguments, output);
        }
    if (arguments.json) print_json(output, 1);
    if (shown == 0) throw Failure(ExitCode::bad_data, nothing_found(arguments.filter, axes));
}

}  // namespace

void add_show(CLI::App& program, ExitCode&) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App& command =
        *program.add_subcommand("show", "Show which variant is the fastest on which problem, and its time");
    command.add_option("paths", arguments->paths,
                       "results of one device or of several, journals or folders of them; default: "
                       "results/local if anything was measured here, else results");
    arguments->filter.add_options(command);
    add_number(command, "--limit", arguments->limit, "problems to show of each device")->check(positive());
    command.add_flag("--json", arguments->json, "every winner, as JSON");
    command.callback([arguments] { run(*arguments); });
}

}  // namespace espalier::bench::cli
