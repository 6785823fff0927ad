// `espalier report`: the exports and the HTML page of everything under results/.

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "harness/base/files/same_file.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/records/atomic_file.hpp"
#include "harness/bench/report/export_files.hpp"
#include "harness/bench/report/page.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/measured_devices.hpp"
#include "harness/cli/print_json.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::string results;  ///< empty: the default
    std::string output = "report";
    std::vector<std::string> devices;
    bool no_page = false, published = false, json = false;
};

constexpr std::array kFormats{report::ExportFormat::csv, report::ExportFormat::choices, report::ExportFormat::tree,
                              report::ExportFormat::benchmark, report::ExportFormat::t4};

/// What the page is made of as tables; of the devices' own sweeps in the other formats, too. The published suite's page
/// shows no choices.
std::span<const report::ExportFormat> formats_of(const Options& options, const report::RecordSet& set) {
    if (options.published || set.place.begin()->native() == "published") return std::span(kFormats).first(1);
    return std::span(kFormats).first(set.place.has_parent_path() ? 2 : kFormats.size());
}

/// The devices' records, and the published suite's of all devices: a GPU's figures stand beside those of a CPU.
std::vector<report::RecordSet> sets_of(const Options& options) {
    std::vector<report::RecordSet> sets;
    const auto add = [&sets](report::RecordSet& set) {
        const auto is_there = [&set](const report::RecordSet& other) { return other.place == set.place; };
        if (std::ranges::none_of(sets, is_there)) sets.push_back(std::move(set));
    };
    for (const std::string& key : device_keys(options.results, options.devices))
        for (report::RecordSet& set : report::record_sets(options.results, key)) add(set);
    for (report::RecordSet& set : report::published_sets(options.results)) add(set);
    return sets;
}

fs::path exports_of(const Options& options) { return fs::path(options.output) / "exports"; }

/// Before anything is written: by a link, the folder of the report may lead back into the results.
void refuse_to_destroy_results(const Options& options, const std::vector<report::RecordSet>& sets) {
    const char* page = options.published ? "published.html" : "index.html";
    std::vector<NamedFile> inputs, outputs{{"", (fs::path(options.output) / page).string()}};
    for (const report::RecordSet& set : sets) {
        for (const auto& entry : fs::directory_iterator(set.records)) inputs.push_back({"", entry.path().string()});
        for (const fs::path& path : export_paths(set, exports_of(options), formats_of(options, set), {}))
            outputs.push_back({"", path.string()});
    }
    refuse_same_files(outputs, inputs);
}

void run(Options options, ExitCode& code) {
    options.results = results_to_read(options.results, options.devices);
    nlohmann::ordered_json written{{"page", nullptr}, {"exports", nlohmann::ordered_json::array()}};
    const std::vector<report::RecordSet> sets = sets_of(options);
    refuse_to_destroy_results(options, sets);
    choose_by_trees_of(options.results, device_keys(options.results, options.devices));
    // One damaged folder must not hide the others: say so, go on, and end with bad_data.
    for (const report::RecordSet& set : sets) try {
            for (const fs::path& path : export_records(set, exports_of(options), formats_of(options, set), {}))
                written["exports"].push_back(path.string());
        } catch (const CannotWrite&) {
            throw;
        } catch (const BadData& error) {
            to_stderr("espalier: no exports of {}: {}\n", printable(set.place.string()), printable_lines(error.what()));
            code = ExitCode::bad_data;
        }
    if (!options.no_page) try {
            const report::PageOptions page{options.results, exports_of(options), options.output,
                                           options.devices, options.published,   true};
            written["page"] = report::write_page(page).string();
        } catch (const report::PageError& error) {
            throw Failure(error.bad_data() ? ExitCode::bad_data : ExitCode::usage, error.what());
        }
    if (options.json)
        print_json(written, 1);
    else if (options.no_page)
        for (const auto& path : written["exports"]) to_stdout("{}\n", path.get<std::string>());
    else
        to_stdout("{}\n", written["page"].get<std::string>());
}

}  // namespace

void add_report(CLI::App& program, ExitCode& code) {
    auto options = std::make_shared<Options>();
    CLI::App& command = *program.add_subcommand("report", "Write the HTML report and the exports of all results");
    command.add_option("--results", options->results, kResultsHelp);
    command.add_option("-o,--output", options->output, "Folder for the page and exports/")->capture_default_str();
    command.add_option("--device", options->devices, "Only these devices, by key")->delimiter(',');
    const auto no_page = command.add_flag("--no-page", options->no_page, "Write the exports only; needs no Python");
    command
        .add_flag("--published", options->published,
                  "Write published.html instead: what the source documents printed beside what was measured here")
        ->excludes(no_page);
    command.add_flag("--json", options->json, "List what was written as JSON");
    command.callback([options, &code] { run(*options, code); });
}

}  // namespace espalier::bench::cli
