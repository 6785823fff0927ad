// `espalier worker`: the child process of a sweep; hidden, because only a sweep can talk to it.

#include "harness/bench/sweep/worker/worker.hpp"

#include <cstdlib>

#include "harness/cli/command.hpp"

namespace espalier::bench::cli {

void add_worker(CLI::App& program, ExitCode&) {
    CLI::App& command = *program.add_subcommand("worker", "measures for a sweep; started by it");
    command.group("");
    static WorkerOptions options;
    command.add_option("--device", options.device)->required();
    add_number(command, "--channel", options.channel)->required();
    add_number(command, "--page", options.page)->required();
    add_number(command, "--parent", options.parent)->required();
    // Not by way of static destructors: a CUDA context that an error has spoilt may hang in its own.
    command.callback([] { std::_Exit(run_worker(options)); });
}

}  // namespace espalier::bench::cli
