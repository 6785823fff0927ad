// `espalier report`: the exports and the HTML page of everything under results/.

#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "harness/cli/command.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/files/same_file.hpp"
#include "harness/records/atomic_file.hpp"
#include "harness/records/csv.hpp"
#include "harness/records/results.hpp"
#include "harness/report/exports.hpp"
#include "harness/report/page.hpp"
#include "harness/text/printable.hpp"
#include "harness/text/to_stderr.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
    std::string results = "results";
    std::string output = "report";
    std::vector<std::string> devices;
    bool no_page = false, published = false, json = false;
};

/// The device keys that have results, or the ones asked for.
std::vector<std::string> device_keys(const Options& options) {
    std::error_code missing;
    std::vector<std::string> known;
    for (const auto& entry : fs::directory_iterator(options.results, missing))
        if (fs::exists(entry.path() / "device.json")) known.push_back(entry.path().filename().string());
    std::sort(known.begin(), known.end());
    for (const std::string& key : options.devices)
        if (std::find(known.begin(), known.end(), key) == known.end())
            throw Failure(ExitCode::bad_data, options.results + " has no results of " + key +
                                                  ": measure them with espalier sweep, or give --results");
    if (known.empty())
        throw Failure(ExitCode::bad_data, options.results + " holds no results: measure first with espalier sweep");
    return options.devices.empty() ? known : options.devices;
}

/// Before anything is written: by a link, the folder of the report may lead back into the results.
void refuse_to_destroy_results(const Options& options, const std::vector<std::string>& keys) {
    const char* page = options.published ? "published.html" : "index.html";
    std::vector<NamedFile> inputs, outputs{{"", (fs::path(options.output) / page).string()}};
    for (const std::string& key : keys)
        for (const auto& entry : fs::directory_iterator(fs::path(options.results) / key)) {
            inputs.push_back({"", entry.path().string()});
            const std::string family = family_of_file(entry.path());
            for (const char* ending : {".csv", ".benchmark.json", ".t4.json"})
                if (!family.empty())
                    outputs.push_back({"", (fs::path(options.output) / "exports" / key / (family + ending)).string()});
        }
    refuse_same_files(outputs, inputs);
}

/// Writes the exports of one device and returns their paths.
std::vector<std::string> write_exports(const Options& options, const std::string& key) {
    const DeviceResults results = load_results(fs::path(options.results) / key);
    std::map<std::string, std::vector<CaseRecord>> families;
    for (const CaseRecord& record : results.cases) families[record.family].push_back(record);
    std::vector<std::string> written;
    const auto write = [&](const std::string& name, const std::string& text) {
        const fs::path path = fs::path(options.output) / "exports" / key / name;
        write_file_atomically(path, text);
        written.push_back(path.string());
    };
    for (const auto& [family, cases] : families) {
        write(family + ".csv", to_csv(cases));
        write(family + ".benchmark.json", report::google_benchmark_json(results.device, cases));
        write(family + ".t4.json", report::t4_json(cases));
    }
    return written;
}

void run(const Options& options, ExitCode& code) {
    nlohmann::ordered_json written{{"page", nullptr}, {"exports", nlohmann::ordered_json::array()}};
    const std::vector<std::string> keys = device_keys(options);
    refuse_to_destroy_results(options, keys);
    // One damaged folder must not hide the others: say so, go on, and end with bad_data.
    for (const std::string& key : options.published ? std::vector<std::string>{} : keys) try {
            for (const std::string& path : write_exports(options, key)) written["exports"].push_back(path);
        } catch (const BadData& error) {
            to_stderr("espalier: no exports of {}: {}\n", printable(key), printable_lines(error.what()));
            code = ExitCode::bad_data;
        }
    if (!options.no_page) try {
            const report::PageOptions page{options.results, options.output, options.devices, options.published, true};
            written["page"] = report::write_page(page).string();
        } catch (const report::PageError& error) {
            throw Failure(error.bad_data() ? ExitCode::bad_data : ExitCode::usage, error.what());
        }
    if (options.json)
        print_json(written, 1);
    else if (options.no_page)
        for (const auto& path : written["exports"]) std::printf("%s\n", path.get<std::string>().c_str());
    else
        std::printf("%s\n", written["page"].get<std::string>().c_str());
}

}  // namespace

void add_report(Command& app, ExitCode& code) {
    auto options = std::make_shared<Options>();
    Command command = app.add_subcommand("report", "Write the HTML report and the exports of all results");
    command.add_option("--results", options->results, "Folder of the results, one folder per device in it")
        .capture_default_str();
    command.add_option("-o,--output", options->output, "Folder for the page and exports/").capture_default_str();
    command.add_option("--device", options->devices, "Only these devices, by key").delimiter(',');
    const auto no_page = command.add_flag("--no-page", options->no_page, "Write the exports only; needs no Python");
    command
        .add_flag("--published", options->published,
                  "Write published.html instead: what the source documents printed beside what was measured here")
        .excludes(no_page);
    command.add_flag("--json", options->json, "List what was written as JSON");
    command.callback([options, &code] { run(*options, code); });
}

}  // namespace espalier::bench::cli
