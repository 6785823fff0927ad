#include "harness/bench/sweep/worker/examine.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "harness/base/files/started_program.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/bench/sweep/worker/devices.hpp"
#include "harness/bench/sweep/worker/supervised_worker.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

std::string path_of_nvcc() {
    const char* named = std::getenv("CUDACXX");
    if (named && access(named, X_OK) == 0) return named;
    const char* variable = std::getenv("PATH");
    std::string folders = std::string(variable ? variable : "") + ":/usr/local/cuda/bin";
    for (std::size_t at = 0; at < folders.size();) {
        const auto end = std::min(folders.find(':', at), folders.size());
        // An empty entry is the folder that we are in; with a slash nobody looks in PATH once more.
        const fs::path candidate = fs::path(end == at ? "." : folders.substr(at, end - at)) / "nvcc";
        std::error_code none;
        if (access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate, none)) return candidate.string();
        at = end + 1;
    }
    return {};
}

/// "release 13.0, V13.0.48" of what `nvcc --version` prints.
std::string version_of(const std::string& nvcc) {
    const ProgramEnd end =
        run_to_end({.words = {nvcc, "--version"}, .output = ProgramCall::Output::captured, .quiet = true});
    const std::string& text = end.output;
    const auto at = text.find("release ");
    if (at == std::string::npos) return "of an unknown release";
    return printable(text.substr(at, text.find_first_of(",\n", at) - at), 100);
}

}  // namespace

Examination examine(const std::string& name, bool ceilings) {
    Examination found{.name = name};
    try {
        SupervisedWorker worker(name);
        worker.open();
        const protocol::Hello& hello = worker.hello();
        found.device = hello.device;
        found.driver = hello.driver;
        found.runtime = hello.runtime;
        found.free = hello.free;
        if (ceilings) found.device = worker.measure_ceilings([] {}).value_or(found.device);
        if (ceilings && found.device.kind == DeviceKind::cuda)
            found.copies = worker.measure_copies().value_or(CopyRates{});
        found.counters_refusal = worker.counters_refusal();
    } catch (const NoUsableDevice& error) {
        found.refusal = error.what();
    }
    return found;
}

std::vector<Examination> examine_all(bool ceilings) {
    std::vector<Examination> all{examine("cpu", ceilings)};
    for (int gpu = 0;; ++gpu) {
        auto found = examine(std::to_string(gpu), ceilings);
        const bool refused = !found.refusal.empty();
        if (!refused || gpu == 0) all.push_back(std::move(found));
        if (refused) return all;
    }
}

std::string find_compiler() {
    const std::string path = path_of_nvcc();
    if (path.empty()) return "none: put nvcc on the PATH (or set CUDACXX) and configure again to build GPU variants";
    return "nvcc " + version_of(path) + " (" + printable(path) + ")";
}

}  // namespace espalier::bench
