// `espalier compare`: what became slower or broke between two sweeps of one device.

#include "harness/sweep/compare.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/cli/command.hpp"
#include "harness/cli/parse.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/warnings.hpp"
#include "harness/files/same_file.hpp"
#include "harness/records/roofline.hpp"
#include "harness/report/page.hpp"
#include "harness/text/counted.hpp"
#include "harness/text/printable.hpp"
#include "harness/text/to_stderr.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

struct Arguments {
    std::string before, after, threshold = "5%", html;
    std::vector<std::string> allow;
    bool json = false, all = false;
};

/// One side: a device's folder of results, a journal or a folder of journals.
DeviceResults load_side(const fs::path& path, const MergeOptions& allow) {
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
    auto sides = pool_journals({path}, allow, warnings);
    tell_warnings(warnings);
    if (sides.empty())
        throw BadData(path.string() + " holds no complete record: name a journal, or a folder of results");
    if (sides.size() != 1)
        throw BadData(fmt::format("{} holds times of {} devices: name the journal or the folder of one", path.string(),
                                  sides.size()));
    return std::move(sides.front());
}

std::string_view to_string(Change change) {
    return change == Change::slower ? "slower" : change == Change::faster ? "faster" : "same";
}

nlohmann::ordered_json to_json(const Comparison& comparison) {
    auto cases = nlohmann::ordered_json::array(), broken = nlohmann::ordered_json::array();
    for (const ComparedCase& one : comparison.cases)
        cases.push_back({{"case", one.key},
                         {"before_ns", one.before_ns},
                         {"after_ns", one.after_ns},
                         {"ratio", one.ratio},
                         {"interval", {one.lo, one.hi}},
                         {"verdict", to_string(one.change)},
                         {"source_changed", one.source_changed}});
    for (const BrokenCase& one : comparison.broken)
        broken.push_back({{"case", one.key}, {"status", one.status}, {"reason", printable(one.reason)}});
    return {{"compared", comparison.cases.size()},
            {"slower", comparison.slower()},
            {"faster", comparison.faster()},
            {"mended", comparison.mended},
            {"only_before", comparison.only_before},
            {"only_after", comparison.only_after},
            {"median_ratio", comparison.median_ratio},
            {"median_interval", {comparison.lo, comparison.hi}},
            {"regression", comparison.regression()},
            {"broken", std::move(broken)},
            {"cases", std::move(cases)}};
}

void print_text(const Comparison& comparison, bool all) {
    for (const BrokenCase& one : comparison.broken)
        fmt::print("broken   {}: {}: {}\n", one.key, one.status, printable(one.reason));
    for (const ComparedCase& one : comparison.cases)
        if (all || one.change != Change::same)
            fmt::print("{:8} {:.3f} [{:.3f}, {:.3f}]  {:.4g} -> {:.4g} us  {}{}\n", to_string(one.change), one.ratio,
                       one.lo, one.hi, one.before_ns / 1000, one.after_ns / 1000, one.key,
                       one.source_changed ? "  (its source changed)" : "");
    fmt::print("{} compared: {} slower, {} faster, {} broken, {} mended; median ratio {:.3f} [{:.3f}, {:.3f}]\n",
               counted(comparison.cases.size(), "case"), comparison.slower(), comparison.faster(),
               comparison.broken.size(), comparison.mended, comparison.median_ratio, comparison.lo, comparison.hi);
    if (comparison.only_before + comparison.only_after)
        to_stderr("with a time before only: {}, after only: {}\n", counted(comparison.only_before, "case"),
                  comparison.only_after);
}

/// Before anything is written: by a link, the page may lead back into what is compared.
void refuse_to_destroy_results(const Arguments& arguments) {
    std::vector<NamedFile> inputs;
    for (const std::string& side : {arguments.before, arguments.after})
        if (fs::is_directory(side))
            for (const auto& entry : fs::directory_iterator(side)) inputs.push_back({"", entry.path().string()});
        else
            inputs.push_back({"", side});
    refuse_same_files({{"--html", arguments.html}}, inputs);
}

void write_html(const Arguments& arguments, const Comparison& comparison) {
    try {
        report::write_comparison_page(
            to_json(comparison).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), arguments.before,
            arguments.after, arguments.html);
    } catch (const report::PageError& error) {
        throw Failure(error.bad_data() ? ExitCode::bad_data : ExitCode::usage, error.what());
    }
}

void run(const Arguments& arguments, ExitCode& code) {
    if (!arguments.html.empty()) refuse_to_destroy_results(arguments);
    CompareOptions options;
    options.threshold = parse_share(arguments.threshold, "--threshold");
    for (const std::string& what : arguments.allow) {
        options.pool.allow_drivers |= what == "drivers";
        options.pool.allow_builds |= what == "builds";
        options.pool.allow_caches |= what == "caches";
    }
    const DeviceResults before = load_side(arguments.before, options.pool);
    const DeviceResults after = load_side(arguments.after, options.pool);
    const Comparison comparison = compare(before, after, options);
    if (comparison.cases.empty() && comparison.broken.empty())
        throw BadData("the two have no case in common that was ok: measure the same families and problems");
    if (!arguments.html.empty()) write_html(arguments, comparison);
    if (arguments.json)
        print_json(to_json(comparison), 1);
    else
        print_text(comparison, arguments.all);
    if (comparison.regression()) code = ExitCode::regression;
}

}  // namespace

void add_compare(Command& app, ExitCode& code) {
    auto arguments = std::make_shared<Arguments>();
    Command command = app.add_subcommand("compare", "Compare two sweeps of one device, case by case");
    command.add_option("before", arguments->before, "results/<device-key>, a journal or a folder of journals")
        .required();
    command.add_option("after", arguments->after, "the same, of the later sweep").required();
    command
        .add_option("--threshold", arguments->threshold, "difference that counts, if the whole interval is beyond it")
        .capture_default_str();
    command.add_option("--allow", arguments->allow, "compare across drivers, builds or caches (cold, clean and warm)")
        .delimiter(',')
        .one_of({"drivers", "builds", "caches"});
    command.add_flag("--all", arguments->all, "also the cases that are the same");
    command.add_flag("--json", arguments->json, "every case, as JSON");
    command.add_option("--html", arguments->html, "also write a page of every case to this file; needs Python");
    command.callback([arguments, &code] { run(*arguments, code); });
}

}  // namespace espalier::bench::cli
