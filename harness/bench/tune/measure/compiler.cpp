#include "harness/bench/tune/measure/compiler.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "harness/base/clock.hpp"
#include "harness/base/failure.hpp"
#include "harness/base/files/read_file.hpp"
#include "harness/base/stop.hpp"
#include "harness/bench/tune/measure/children.hpp"
#include "harness/bench/tune/measure/emulated_source.hpp"
#include "harness/bench/tune/worker/nvrtc.hpp"

namespace espalier::bench::tune {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostJobs = 16;
constexpr std::size_t kLongestReason = 1500;
constexpr std::size_t kPrecompiledFor = 6;  // configurations, it takes less time to compile the headers once
constexpr double kLeastTimeout = 60;        // seconds: a compiler on a busy machine takes longer than a kernel

std::string nvcc() {
    if (const char* named = std::getenv("CUDACXX"); named && *named) return named;
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
        if (const char* home = std::getenv(variable))
            if (const std::string path = std::string(home) + "/bin/nvcc"; access(path.c_str(), X_OK) == 0) return path;
    const std::string usual = "/usr/local/cuda/bin/nvcc";
    return access(usual.c_str(), X_OK) == 0 ? usual : "nvcc";
}

/// A text of the file that is a symbol of the kernel's: nvcc keeps names as they are, or mangles them.
std::string symbol_in(const fs::path& module, const std::string& kernel) {
    std::ifstream stream(module, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(stream), {});
    const std::string mangled = fmt::format(".text._Z{}{}", kernel.size(), kernel);
    const std::size_t at = bytes.find(mangled);
    if (at == std::string::npos) return kernel;
    return bytes.substr(at + 6, bytes.find('\0', at) - at - 6);
}

}  // namespace

/// A configuration that is being compiled.
struct Compiler::Task {
    Configuration configuration;
    bool reference = false;
    std::string kernel;  ///< as source names it
    fs::path module, log;
    std::unique_ptr<Child> child;
    double start = 0;
};

fs::path emulator_headers() {
    std::error_code ignored;
    const fs::path header = "harness/emulator/tuned_kernel.hpp";
    const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
    for (const fs::path& folder : {program.parent_path() / "../share/espalier/sources", fs::path(ESPALIER_SOURCE_DIR)})
        if (fs::exists(folder / header, ignored)) return folder;
    throw Failure(ExitCode::bad_data, "the host executor's headers are neither in " ESPALIER_SOURCE_DIR
                                      " nor in ../share/espalier/sources beside the program: install it again");
}

Compiler::Compiler(const Description& description, const TuneOptions& options, const DeviceInfo& device,
                   fs::path folder)
    : description_(description),
      options_(options),
      device_(device),
      folder_(std::move(folder)),
      timeout_(std::max(kLeastTimeout, options.timeout_seconds)),
      source_(read_file(description.kernel_file).value_or("")) {
    if (device.emulated) {
        headers_ = emulator_headers();
        return;
    }
    const std::string refusal = options.compiler == "nvcc" ? "not asked for" : nvrtc_refusal();
    nvrtc_ = refusal.empty();
    if (!nvrtc_ && options.compiler == "nvrtc") throw Failure(ExitCode::no_device, refusal);
}

/// Macros stand in the source and not on the command line: headers that a compiler includes by itself may have names
/// like them.
std::string Compiler::defines(const Configuration& configuration) const {
    std::string all;
    for (std::size_t p = 0; p < configuration.size(); ++p)
        all += fmt::format("#define {} {}\n", description_.parameters[p].name,
                           spelled(description_.parameters[p].values[configuration[p]]));
    return all;
}

std::vector<std::string> Compiler::cuda_options() const {
    std::vector<std::string> all{"-I" + fs::absolute(description_.kernel_file).parent_path().string(),
                                 fmt::format("-arch=sm_{}", device_.sm)};
    const auto& given = description_.compiler_options;
    all.insert(all.end(), given.begin(), given.end());
    if (std::ranges::none_of(given, [](const std::string& one) { return one.find("-std=") != std::string::npos; }))
        all.emplace_back("-std=c++17");
    return all;
}

std::vector<std::string> Compiler::host_call() const {
    const char* named = std::getenv("CXX");
    std::vector<std::string> all{named && *named ? named : "c++", "-std=c++20", "-O1", "-fPIC", "-w"};
    all.push_back("-I" + folder_.string());
    for (const char* folder : {"harness/emulator", "", "kernels/include"})
        all.push_back("-I" + (headers_ / folder).string());
    return all;
}

/// The executor's headers take a compiler longer than a kernel: they are compiled once. A compiler that cannot do so,
/// or does not take the result, reads them each time.
void Compiler::precompile_headers() {
    precompiled_ = true;
    write_work_file(folder_ / "tuned_kernel.hpp", "#include \"harness/emulator/tuned_kernel.hpp\"\n");
    std::vector<std::string> all = host_call();
    const std::string file = (folder_ / "tuned_kernel.hpp").string();
    all.insert(all.end(), {"-x", "c++-header", file, "-o", file + ".gch"});
    Child child(all, folder_ / "headers.log");
    while (!child.ended() && !stop_requested()) usleep(2000);
}

std::vector<std::string> Compiler::host_words(const Task& task) const {
    const fs::path file = task.module.string() + ".cpp";
    write_work_file(file, emulated_source(source_, description_.kernel_file.filename().string(),
                                          defines(task.configuration), task.kernel));
    std::vector<std::string> all = host_call();
    // Of the options only those that every compiler has.
    for (const std::string& option : cuda_options())
        if (option.starts_with("-D") || option.starts_with("-I")) all.push_back(option);
    all.insert(all.end(), {"-shared", file.string(), "-o", task.module.string()});
    return all;
}

std::vector<std::string> Compiler::words(const Task& task) const {
    if (device_.emulated) return host_words(task);
    const fs::path source = task.module.string() + ".cu";
    write_work_file(source, defines(task.configuration) + "#line 1 \"" + description_.kernel_file.filename().string() +
                                "\"\n" + source_);
    const std::vector<std::string> options = cuda_options();
    if (nvrtc_) {
        const nlohmann::json job{{"source", source.string()},
                                 {"kernel", task.kernel},
                                 {"options", options},
                                 {"output", task.module.string()}};
        const fs::path file = task.module.string() + ".json";
        write_work_file(file, job.dump());
        return {"/proc/self/exe", "tune-worker", "--compile", file.string()};
    }
    std::vector<std::string> all{nvcc(), "-cubin", "-O3"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), {source.string(), "-o", task.module.string()});
    return all;
}

Compiled Compiler::result_of(const Task& task, bool stalled) const {
    Compiled compiled{.module = task.module, .kernel = task.kernel, .seconds = steady_seconds() - task.start};
    if (stalled) {
        compiled.invalidity = Invalidity::timeout;
        compiled.reason = fmt::format("compiling took longer than {} s", timeout_);
    } else if (task.child->code() != 0) {
        compiled.invalidity = Invalidity::compile;
        const std::string said = end_of(task.log, kLongestReason);
        compiled.reason = said.empty() || task.child->code() >= 126 ? task.child->how() : said;
    } else if (nvrtc_) {
        compiled.kernel = end_of(task.module.string() + ".name", kLongestReason);
    } else if (!device_.emulated) {
        compiled.kernel = symbol_in(task.module, task.kernel);
    }
    return compiled;
}

void Compiler::run(std::vector<Task>& tasks) {
    const std::size_t processors = std::max(1U, std::thread::hardware_concurrency());
    const std::size_t jobs = options_.jobs > 0 ? options_.jobs : std::min(kMostJobs, processors);
    std::size_t next = 0;
    std::vector<Task*> running;
    while ((next < tasks.size() || !running.empty()) && !stop_requested()) {
        while (next < tasks.size() && running.size() < jobs) {
            Task& task = tasks[next++];
            task.start = steady_seconds();
            task.child = std::make_unique<Child>(words(task), task.log);
            running.push_back(&task);
        }
        std::erase_if(running, [&](Task* task) {
            const bool ended = task->child->ended();
            const bool stalled = !ended && steady_seconds() - task->start > timeout_;
            if (stalled) task->child->kill();
            if (ended || stalled) done_[{task->reference, task->configuration}] = result_of(*task, stalled);
            return ended || stalled;
        });
        usleep(2000);
    }
}

std::vector<Compiled> Compiler::compile(const std::vector<Configuration>& configurations, bool reference) {
    std::vector<Task> tasks;
    for (const Configuration& one : configurations) {
        if (done_.contains({reference, one})) continue;
        const std::string kernel = reference ? description_.reference.launch.kernel : description_.launch.kernel;
        const fs::path module = folder_ / fmt::format("kernel_{}.bin", done_.size() + tasks.size());
        tasks.push_back({one, reference, kernel, module, module.string() + ".log", nullptr, 0});
    }
    if (device_.emulated && !precompiled_ && tasks.size() >= kPrecompiledFor) precompile_headers();
    run(tasks);
    std::vector<Compiled> all;
    for (const Configuration& one : configurations) all.push_back(done_[{reference, one}]);
    return all;
}

}  // namespace espalier::bench::tune
