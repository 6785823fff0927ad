// `espalier figures`: a device's results as figures for papers, drawn by plots/draw.py.

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/base/files/same_file.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/judge/choices.hpp"
#include "harness/bench/records/atomic_file.hpp"
#include "harness/bench/report/export_files.hpp"
#include "harness/bench/report/page.hpp"
#include "harness/bench/train/train.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/measured_devices.hpp"
#include "harness/cli/print_json.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::string results;  ///< empty: the default
    std::string output = "figures", format = "svg";
    std::vector<std::string> devices;  ///< at most one
    bool json = false;
};

/// The sources draw trees of a page's size.
constexpr std::size_t kLeaves = 8;
constexpr const char* kTreeFamily = "distance";

std::uintmax_t size_of_records(const fs::path& folder) {
    std::uintmax_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder))
        if (entry.path().string().find(".jsonl") != std::string::npos) bytes += entry.file_size();
    return bytes;
}

/// The device of which most is on record.
std::string best_swept(const std::string& results) {
    const std::vector<std::string> keys = device_keys(results, {});
    return *std::ranges::max_element(keys, {},
                                     [&](const std::string& key) { return size_of_records(fs::path(results) / key); });
}

/// The device's sweep and its unseen problems, and the published suite of all devices: lines of a GPU's tables may be
/// of a CPU.
std::vector<report::RecordSet> sets_of(const std::string& results, const std::string& key) {
    std::vector<report::RecordSet> sets = report::published_sets(results);
    for (report::RecordSet& set : report::record_sets(results, key))
        if (set.place.filename() != "peers" && *set.place.begin() != "published") sets.push_back(std::move(set));
    return sets;
}

std::vector<report::ExportFormat> formats_of(const report::RecordSet& set) {
    using enum report::ExportFormat;
    if (*set.place.begin() == "published") return {csv};
    return {csv, choices, tree};
}

/// Grows the tree of at most `kLeaves` leaves that is drawn beside the sources' own, and writes it as a table. Where
/// that cannot be done it says why: the other figures need no tree.
void export_small_tree(const std::string& results, const std::string& key, const fs::path& exports) try {
    learn::TrainOptions options;
    options.learn.max_leaves = kLeaves;
    options.evidence.allow_partial = options.evidence.allow_mixed = options.evidence.allow_disturbed = true;
    options.evaluate = false;
    const learn::TrainedDevice trained =
        learn::train_device(key, {.results = results, .output = "none", .evidence = {}}, {kTreeFamily}, options);
    for (const learn::TrainedFile& file : trained.files)
        if (file.path.extension() == ".tree")
            write_file_atomically(exports / key / "trees/small" / (std::string(kTreeFamily) + ".csv"),
                                  learn::csv_of_tree(file.contents));
} catch (const CannotWrite&) {
    throw;
} catch (const std::runtime_error& error) {
    to_stderr("espalier: {}: no tree of at most {} leaves: {}\n", key, kLeaves, printable_lines(error.what()));
}

/// Before anything is written: by a link, the folder of the figures may lead back into the results.
void refuse_to_destroy_results(const std::vector<report::RecordSet>& sets, const fs::path& exports) {
    std::vector<NamedFile> inputs, outputs;
    for (const report::RecordSet& set : sets) {
        for (const auto& entry : fs::directory_iterator(set.records)) inputs.push_back({"", entry.path().string()});
        for (const fs::path& path : export_paths(set, exports, formats_of(set), {}))
            outputs.push_back({"", path.string()});
    }
    refuse_same_files(outputs, inputs);
}

void run(Options options) {
    options.results = results_to_read(options.results, options.devices);
    const std::string key =
        options.devices.empty() ? best_swept(options.results) : device_keys(options.results, options.devices).front();
    const fs::path exports = fs::path(options.output) / "exports";
    const std::vector<report::RecordSet> sets = sets_of(options.results, key);
    refuse_to_destroy_results(sets, exports);
    choose_by_trees_of(options.results, {key});
    for (const report::RecordSet& set : sets) report::export_records(set, exports, formats_of(set), {});
    export_small_tree(options.results, key, exports);
    try {
        report::write_figures({options.results, exports, options.output, key, options.format, options.json});
    } catch (const report::PageError& error) {
        throw Failure(error.bad_data() ? ExitCode::bad_data : ExitCode::usage, error.what());
    }
    if (!options.json) return;
    auto written = nlohmann::ordered_json::array();
    for (const fs::path& path : report::files_of_figures(options.output, options.format))
        written.push_back(path.string());
    print_json(nlohmann::ordered_json{{"device", key}, {"figures", written}}, 1);
}

}  // namespace

void add_figures(CLI::App& program, ExitCode&) {
    auto options = std::make_shared<Options>();
    CLI::App& command = *program.add_subcommand("figures", "Draw a device's results as figures for papers");
    command.add_option("--results", options->results, kResultsHelp);
    command.add_option("-o,--output", options->output, "Folder for the figures, their captions and exports/")
        ->capture_default_str();
    command.add_option("--device", options->devices, "Of this device; default: the one of which most is on record")
        ->type_name("KEY")
        ->expected(1);
    command.add_option("--format", options->format, "svg, with text as text; pdf; png, with 300 dots per inch")
        ->check(one_of({"svg", "pdf", "png"}))
        ->capture_default_str();
    command.add_flag("--json", options->json, "List what was written as JSON");
    command.callback([options] { run(*options); });
}

}  // namespace espalier::bench::cli
