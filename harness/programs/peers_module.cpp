// The harness as a library: what launcher.py loads.

#include <string>
#include <vector>

#include "harness/bench/peers/python/bridge.hpp"
#include "harness/bench/sweep/worker/worker_process.hpp"
#include "harness/cli/program.hpp"

/// The exit code of `espalier_peers` with these arguments. `launcher` are the program and the arguments that start the
/// launcher again, for workers; both lists end with a null pointer.
extern "C" __attribute__((visibility("default"))) int espalier_peers_main(int argc, char** argv, char** launcher,
                                                                          espalier::bench::python::Callback callback) {
    using namespace espalier::bench;
    std::vector<std::string> words;
    for (; *launcher; ++launcher) words.emplace_back(*launcher);
    python::call_back(callback);
    start_workers_with(std::move(words));
    return cli::run_program(argc, argv);
}
