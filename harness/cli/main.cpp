// The `espalier` command line: finds the subcommands that the build listed and turns failures into
// messages and exit codes.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>

#include "harness/cli/command.hpp"
#include "harness/cli/commands.hpp"  // generated
#include "harness/families/family.hpp"
#include "harness/text/printable.hpp"
#include "kernels/device/host_cpu.hpp"

namespace {

int report(espalier::bench::cli::ExitCode code, const char* message) {
    std::fprintf(stderr, "espalier: %s\n", espalier::bench::printable_lines(message).c_str());
    return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
    using namespace espalier::bench;
    using cli::ExitCode;

    if (const auto wrong = espalier::device::wrong_cpu_isa()) return report(ExitCode::usage, wrong->c_str());
    CLI::App app("Measures every documented way of computing a thing, and ships the fastest.", "espalier");
    app.require_subcommand(1);
    app.set_version_flag("--version", ESPALIER_VERSION);
    app.failure_message(CLI::FailureMessage::help);
    ExitCode code = ExitCode::ok;
    cli::Command program(app);
    for (const cli::AddCommand add : cli::commands()) add(program, code);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& success) {
        return app.exit(success);  // --help, --version
    } catch (const CLI::ParseError& error) {
        app.exit(error);
        return static_cast<int>(ExitCode::usage);
    } catch (const cli::Failure& failure) {
        return report(failure.code(), failure.what());
    } catch (const BadProblem& error) {
        return report(ExitCode::usage, error.what());
    } catch (const std::bad_alloc&) {
        return report(ExitCode::bad_data, "out of memory: use a smaller problem or a machine with more");
    } catch (const std::exception& error) {
        return report(ExitCode::bad_data, error.what());
    }
    return static_cast<int>(code);
}
