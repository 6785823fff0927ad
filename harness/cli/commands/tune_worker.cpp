// `espalier tune-worker`: the child processes of `espalier tune`; hidden, because nobody else can talk to them.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/bench/tune/measure/oracle.hpp"
#include "harness/bench/tune/worker/nvrtc.hpp"
#include "harness/bench/tune/worker/worker.hpp"
#include "harness/cli/command.hpp"

namespace espalier::bench::cli {
namespace {

struct TuneWorkerOptions {
    tune::WorkerOptions worker;
    std::string compile, oracle;  ///< files of jobs
};

int compile(const std::string& file) {
    std::ifstream stream(file);
    const nlohmann::json job = nlohmann::json::parse(stream);
    const std::string wrong = tune::compile_with_nvrtc({job.at("source").get<std::string>(), job.at("kernel"),
                                                        job.at("options").get<std::vector<std::string>>(),
                                                        job.at("output").get<std::string>()});
    std::fputs(wrong.c_str(), stderr);
    return wrong.empty() ? 0 : 1;
}

int run_task(const TuneWorkerOptions& options) {
    try {
        if (!options.compile.empty()) return compile(options.compile);
        if (!options.oracle.empty()) return tune::run_library_oracle(options.oracle);
        return tune::run_worker(options.worker);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}

}  // namespace

void add_tune_worker(CLI::App& program, ExitCode&) {
    const auto options = std::make_shared<TuneWorkerOptions>();
    CLI::App& command = *program.add_subcommand("tune-worker", "compiles and measures for tune; started by it");
    command.group("");
    command.add_option("--job", options->worker.job);
    command.add_option("--findings", options->worker.findings);
    add_number(command, "--page", options->worker.page);
    add_number(command, "--parent", options->worker.parent);
    command.add_option("--compile", options->compile);
    command.add_option("--oracle", options->oracle);
    // Not by way of static destructors: a CUDA context that an error has spoilt may hang in its own.
    command.callback([options] {
        const int code = run_task(*options);
        std::fflush(stderr);
        std::_Exit(code);
    });
}

}  // namespace espalier::bench::cli
