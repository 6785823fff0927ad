// `espalier verify`: are journals and results whole, of a known schema, possible, and of today's sources?

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/bench/records/inspect.hpp"
#include "harness/bench/records/stale.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/print_json.hpp"

namespace espalier::bench::cli {
namespace {

struct Arguments {
    std::vector<std::string> paths{"results"};
    bool json = false, quiet = false;
};

/// What is asked of the records that could be read. A finding of any of these fails the verification.
using Check = std::vector<Finding> (*)(const Inspection&);
constexpr std::array<Check, 1> kChecks{find_implausible};

/// A record of other source is sound, but trees that rest on it may not be: listed, no fault.
struct StaleEntry {
    StaleVariant variant;
    std::string reason;  ///< why it is used nevertheless; empty if nobody said so for today's source
};

std::vector<StaleEntry> list_stale(const Inspection& inspection) {
    const KnownStaleList known = load_known_stale(inspection.path);
    std::vector<StaleEntry> list;
    for (StaleVariant& stale : find_stale(inspection.cases)) {
        const std::string reason = is_known(known, stale) ? known.at(stale.name()).reason : "";
        list.push_back({std::move(stale), reason});
    }
    return list;
}

nlohmann::ordered_json to_json(const Inspection& inspection, const std::vector<StaleEntry>& stale) {
    auto old = nlohmann::ordered_json::array();
    for (const StaleEntry& entry : stale)
        old.push_back({{"variant", entry.variant.name()},
                       {"records", entry.variant.rows},
                       {"times", entry.variant.timed},
                       {"measured_source_id", printable(entry.variant.measured_id)},
                       {"source_id", entry.variant.source_id},
                       {"accepted", printable(entry.reason)}});
    auto findings = nlohmann::ordered_json::array();
    for (const Finding& finding : inspection.findings)
        findings.push_back({{"file", printable(finding.file.string(), 4096)},
                            {"place", printable(finding.place, 4096)},
                            {"what", printable(finding.what)}});
    return {{"path", printable(inspection.path.string(), 4096)},
            {"records", inspection.records},
            {"cases", inspection.cases.size()},
            {"findings", std::move(findings)},
            {"stale", std::move(old)}};
}

void print_stale(const std::vector<StaleEntry>& stale) {
    for (const auto& [variant, reason] : stale)
        to_stdout("  stale: {}{}\n", printable(describe(variant)),
                  reason.empty() ? "" : " (accepted: " + printable(reason) + ")");
}

/// Text from a file reaches the terminal only through `printable`.
void print_text(const Inspection& inspection, bool quiet) {
    constexpr std::size_t kShown = 20;
    const auto& findings = inspection.findings;
    if (!quiet)
        to_stdout("{}: {}, {} of them cases: {}\n", printable(inspection.path.string(), 4096),
                  counted(inspection.records, "record"), inspection.cases.size(),
                  findings.empty() ? "sound" : counted(findings.size(), "fault"));
    for (std::size_t i = 0; i < std::min(kShown, findings.size()); ++i)
        to_stderr("{}{}{}: {}\n", printable(findings[i].file.string(), 4096), findings[i].place.empty() ? "" : ", ",
                  printable(findings[i].place, 4096), printable(findings[i].what));
    if (findings.size() > kShown) to_stderr("and {} more: --json lists all\n", findings.size() - kShown);
}

void run(const Arguments& arguments, ExitCode& code) {
    auto output = nlohmann::ordered_json::array();
    for (const auto& path : find_record_files({arguments.paths.begin(), arguments.paths.end()})) {
        Inspection inspection = inspect(path);
        for (const Check check : kChecks)
            for (Finding& finding : check(inspection)) inspection.findings.push_back(std::move(finding));
        if (!inspection.findings.empty()) code = ExitCode::bad_data;
        const std::vector<StaleEntry> stale = list_stale(inspection);
        if (arguments.json)
            output.push_back(to_json(inspection, stale));
        else
            print_text(inspection, arguments.quiet);
        if (!arguments.json && !arguments.quiet) print_stale(stale);
    }
    if (arguments.json) print_json(output, 1);
}

}  // namespace

void add_verify(CLI::App& program, ExitCode& code) {
    auto arguments = std::make_shared<Arguments>();
    CLI::App& command = *program.add_subcommand(
        "verify", "Check journals and results: checksums, schemas, plausible times; list what is of other source");
    command
        .add_option("paths", arguments->paths, "journals, results of a device, or folders that hold any number of them")
        ->capture_default_str();
    command.add_flag("--json", arguments->json, "what was read and found, as JSON");
    command.add_flag("--quiet", arguments->quiet, "only what is wrong");
    command.callback([arguments, &code] { run(*arguments, code); });
}

}  // namespace espalier::bench::cli
