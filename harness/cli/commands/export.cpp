// `espalier export`: records as tables and in other tools' formats.

#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/files/same_file.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/report/export_files.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/measured_devices.hpp"
#include "harness/cli/print_json.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

const std::map<std::string, report::ExportFormat> kFormats{{"csv", report::ExportFormat::csv},
                                                           {"json", report::ExportFormat::json},
                                                           {"benchmark", report::ExportFormat::benchmark},
                                                           {"t4", report::ExportFormat::t4},
                                                           {"choices", report::ExportFormat::choices},
                                                           {"tree", report::ExportFormat::tree}};

struct Options {
    std::string results;  ///< empty: the default
    std::string output = "exports";
    std::vector<std::string> devices, families, formats{"csv", "choices", "tree"};
    bool json = false;
};

std::vector<report::RecordSet> sets_of(const std::string& results, const std::vector<std::string>& keys) {
    std::vector<report::RecordSet> sets;
    for (const std::string& key : keys)
        for (report::RecordSet& set : report::record_sets(results, key)) sets.push_back(std::move(set));
    return sets;
}

std::vector<report::ExportFormat> formats_of(const Options& options) {
    std::vector<report::ExportFormat> formats;
    for (const std::string& name : options.formats) formats.push_back(kFormats.at(name));
    return formats;
}

void run(const Options& options) {
    for (const std::string& family : options.families) static_cast<void>(family_named(family));
    const std::string results = results_to_read(options.results, options.devices);
    const std::vector<std::string> keys = device_keys(results, options.devices);
    const auto sets = sets_of(results, keys);
    const auto formats = formats_of(options);
    std::vector<NamedFile> inputs, outputs;
    for (const report::RecordSet& set : sets) {
        for (const auto& entry : fs::directory_iterator(set.records)) inputs.push_back({"", entry.path().string()});
        for (const fs::path& path : export_paths(set, options.output, formats, options.families))
            outputs.push_back({"", path.string()});
    }
    if (outputs.empty()) throw Failure(ExitCode::bad_data, "nothing of that kind was measured: see espalier show");
    refuse_same_files(outputs, inputs);
    choose_by_trees_of(results, keys);
    auto written = nlohmann::ordered_json::array();
    for (const report::RecordSet& set : sets)
        for (const fs::path& path : export_records(set, options.output, formats, options.families)) {
            written.push_back(path.string());
            if (!options.json) std::printf("%s\n", printable(path.string()).c_str());
        }
    if (options.json) print_json(written, 1);
}

}  // namespace

void add_export(CLI::App& program, ExitCode&) {
    auto options = std::make_shared<Options>();
    CLI::App& command =
        *program.add_subcommand("export", "Write records and the library's choices as CSV, or records as JSON");
    command.add_option("--results", options->results, kResultsHelp);
    command
        .add_option(
            "-o,--output", options->output,
            "folder of the exports: <device>/<family>.csv and <device>/choices/<family>.csv in it, and the same "
            "below <device>/unseen, <device>/peers and published/<device>")
        ->capture_default_str();
    command.add_option("--device", options->devices, "only these devices, by key")->type_name("KEY")->delimiter(',');
    command.add_option("--family", options->families, "only these families")->delimiter(',');
    command
        .add_option("--format", options->formats,
                    "csv; choices: what the library runs for each problem, as CSV; tree: the device's tree to be "
                    "drawn, as CSV; json: the columns of csv, an object per case; benchmark: Google Benchmark's JSON; "
                    "t4: the auto-tuning community's")
        ->delimiter(',')
        ->check(one_of({"csv", "choices", "tree", "json", "benchmark", "t4"}))
        ->capture_default_str();
    command.add_flag("--json", options->json, "list what was written as JSON");
    command.callback([options] { run(*options); });
}

}  // namespace espalier::bench::cli
