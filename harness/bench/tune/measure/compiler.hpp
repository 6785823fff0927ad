#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "harness/bench/tune/measure/options.hpp"
#include "harness/bench/tune/space/space.hpp"
#include "harness/bench/tune/worker/job.hpp"

namespace espalier::bench::tune {

/// A configuration's machine code, or why there is none.
struct Compiled {
    std::filesystem::path module;
    std::string kernel;  ///< its name there
    Invalidity invalidity = Invalidity::correct;
    std::string reason;
    double seconds = 0;
};

/// Compiles configurations, several at a time in processes of their own, so that a compiler that crashes or hangs costs
/// one of them. Each is compiled once, whatever problems it is measured for.
class Compiler {
public:
    /// Throws `Failure` if there is no compiler for the device.
    Compiler(const Description& description, const TuneOptions& options, const DeviceInfo& device,
             std::filesystem::path folder);

    /// Of each configuration, for the kernel itself or for its reference. Stops early, with empty modules and reasons,
    /// if the program is asked to stop.
    std::vector<Compiled> compile(const std::vector<Configuration>& configurations, bool reference = false);

private:
    struct Task;
    [[nodiscard]] std::vector<std::string> words(const Task& task) const;
    [[nodiscard]] std::vector<std::string> host_call() const;
    void precompile_headers();
    [[nodiscard]] std::vector<std::string> host_words(const Task& task) const;
    [[nodiscard]] std::string defines(const Configuration& configuration) const;
    [[nodiscard]] std::vector<std::string> cuda_options() const;
    void run(std::vector<Task>& tasks);
    [[nodiscard]] Compiled result_of(const Task& task, bool stalled) const;

    const Description& description_;
    const TuneOptions& options_;
    const DeviceInfo& device_;
    std::filesystem::path folder_;
    double timeout_;  ///< seconds for one configuration
    std::string source_;
    std::filesystem::path headers_;  ///< of the host executor
    bool nvrtc_ = false, precompiled_ = false;
    std::map<std::pair<bool, Configuration>, Compiled> done_;
};

/// Where the host executor's headers are: of the sources that this program was built from, or installed with it. Throws
/// `Failure`.
std::filesystem::path emulator_headers();

}  // namespace espalier::bench::tune
