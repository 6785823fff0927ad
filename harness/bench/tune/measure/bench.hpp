#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/tune/measure/children.hpp"
#include "harness/bench/tune/measure/compiler.hpp"
#include "harness/bench/tune/measure/options.hpp"
#include "harness/bench/tune/measure/outcome.hpp"

namespace espalier::bench::tune {

/// Compiles, verifies and times configurations of a description on a device, in worker processes.
class Bench {
public:
    /// Opens the device. `description` and `options` must outlive the bench. Throws `Failure` where the device is not
    /// there, or has no compiler, and `BadData` if the arguments do not fit into its memory.
    Bench(const Description& description, const TuneOptions& options);

    [[nodiscard]] const DeviceInfo& device() const { return *hello_.device; }
    [[nodiscard]] const std::string& driver() const { return hello_.driver; }
    [[nodiscard]] const std::string& runtime() const { return hello_.runtime; }
    /// What the caches hold before a run: the host executor, which has none to flush, leaves them warm.
    [[nodiscard]] Caches caches() const { return device().emulated ? Caches::warm : options_.caches; }
    /// Seconds since the bench was opened.
    [[nodiscard]] double elapsed() const;

    struct Goal {
        double noise = 0.02;
        double seconds = 10;
        bool counters = false;
        bool final = false;
    };
    /// What comes of configurations of a problem, in interleaved rounds of all of them. Those that are invalid are left
    /// out of `outcomes` if the program is asked to stop before anything is known of them. Throws `Failure` if nothing
    /// says what is right.
    std::vector<Outcome> measure(std::size_t problem, const std::vector<Configuration>& configurations,
                                 const Goal& goal);

private:
    struct Batch;
    void expect(std::size_t problem);
    void expect_of_reference(std::size_t problem, const std::filesystem::path& file);
    void compile(Batch& batch);
    bool run_once(Batch& batch);
    void read(const std::filesystem::path& findings, Batch& batch);

    const Description& description_;
    const TuneOptions& options_;
    WorkFolder folder_;
    double start_;
    Finding hello_;
    std::optional<Compiler> compiler_;
    std::map<std::size_t, std::filesystem::path> expected_;
    int jobs_ = 0;
};

}  // namespace espalier::bench::tune
