// The `espalier` command line: finds the subcommands that the build listed and turns failures into
// messages and exit codes.

#include "harness/cli/program.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "harness/base/files/installed.hpp"
#include "harness/base/files/leftovers.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/profile/timeline.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/commands.hpp"  // generated
#include "harness/cli/standard_output.hpp"
#include "harness/cli/usage_error.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/dispatch/loaded_trees.hpp"
#include "kernels/dispatch/wisdom.hpp"

namespace espalier::bench::cli {
namespace {

constexpr const char* kTimeline = "ESPALIER_TIMELINE";

ExitCode report(ExitCode code, const std::string& message) {
    to_stderr("espalier: {}\n", message);
    return code;
}

/// Tells which selectors and which wisdom a command ignored. It is no failure: the results are the same.
void tell_of_ignored_selectors() {
    if (const std::string& ignored = ignored_selectors_so_far(); !ignored.empty())
        to_stderr("espalier: left out: {}\n", ignored);
    for (const std::string& ignored : ignored_wisdom()) to_stderr("espalier: left out: {}\n", ignored);
}

void describe(CLI::App& app, ExitCode& code) {
    app.require_subcommand(1);
    app.set_version_flag("--version", ESPALIER_VERSION);
    app.footer(kExitCodes);
    app.add_option_function<std::string>(
           "--timeline",
           [](const std::string& file) {
               const std::string path = std::filesystem::absolute(file).string();
               setenv(kTimeline, path.c_str(), 1);  // for the workers of a sweep
               device::begin_timeline(path);
           },
           "append what runs when, with kernels on a GPU, to this file, in Chrome's trace format")
        ->envname(kTimeline);
    for (const AddCommand add : commands()) add(app, code);
}

/// The words after the program's name, the last one first, as the parser wants them.
std::vector<std::string> words_backwards(int argc, char** argv) {
    std::vector<std::string> words(argv + 1, argv + argc);
    if (!words.empty() && words.front() == "compare") std::ranges::replace(words, std::string("--"), kBetweenSides);
    std::ranges::reverse(words);
    return words;
}

ExitCode usage_error(const CLI::App& app, const CLI::ParseError& error) {
    to_stderr("{}\n", describe_usage_error(app, error));
    return ExitCode::usage;
}

ExitCode run(int argc, char** argv) {
    if (const auto wrong = device::wrong_cpu_isa()) return report(ExitCode::usage, *wrong);
    CLI::App app("Measures every documented way of computing a thing, and ships the fastest.", "espalier");
    ExitCode code = ExitCode::ok;
    describe(app, code);
    try {
        app.parse(words_backwards(argc, argv));
    } catch (const CLI::CallForHelp& help) {
        if (names_no_command(app)) return usage_error(app, help);
        std::fputs(app.help().c_str(), stdout);
    } catch (const CLI::CallForVersion& version) {
        if (names_no_command(app)) return usage_error(app, version);
        std::fputs((std::string(version.what()) + "\n").c_str(), stdout);
    } catch (const CLI::ParseError& error) {
        return usage_error(app, error);
    } catch (const Failure& failure) {
        return report(failure.code(), failure.what());
    } catch (const BadProblem& error) {
        return report(ExitCode::usage, error.what());
    } catch (const SameFile& error) {
        return report(ExitCode::usage, error.what());
    } catch (const std::bad_alloc&) {
        return report(ExitCode::bad_data, "out of memory: use a smaller problem or a machine with more");
    } catch (const std::filesystem::filesystem_error& error) {
        return report(ExitCode::bad_data, printable(error.path1().string(), 4096) + ": " + error.code().message() +
                                              ": check the path and its permissions");
    } catch (const std::system_error& error) {
        const bool output = std::ferror(stdout) != 0;
        return report(ExitCode::bad_data, output ? lost_output(error.code().value()) : error.what());
    } catch (const std::exception& error) {
        return report(ExitCode::bad_data, error.what());
    }
    return code;
}

}  // namespace

int run_program(int argc, char** argv, const char* prefix) {
    set_installed_prefix(prefix);
    hold_standard_descriptors();
    clean_up_on_signals();
    ExitCode code = run(argc, argv);
    tell_of_ignored_selectors();
    if (!device::write_timeline()) code = report(ExitCode::bad_data, "the timeline cannot be written");
    const bool told = std::ferror(stdout) != 0 && code == ExitCode::bad_data;
    if (const auto lost = finish_standard_output(); lost && !told) code = report(ExitCode::bad_data, *lost);
    return static_cast<int>(code);
}

}  // namespace espalier::bench::cli
