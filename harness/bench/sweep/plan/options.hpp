#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "harness/bench/families/first_cases.hpp"
#include "harness/bench/sweep/plan/caches.hpp"

namespace espalier::bench {

/// How much of a problem's time goes into verifying what its variants compute (verify.hpp).
enum class Verification {
    once,      ///< a run of each case before it is timed and one after, on the same inputs
    budgeted,  ///< several runs, on fresh inputs too; the oracle computes what it affords
    full       ///< the oracle computes everything, however long it takes
};
/// only: what the records on file lack, without timing anything again.
enum class CounterMode { off, automatic, require, only };

/// The problems of a family on a device, as canonical keys.
using ProblemsOf = std::function<std::vector<std::string>(const Family&, const DeviceInfo&)>;

/// Whether a case of one of these problems is to be measured.
using HasCase = std::function<bool(const Family&, std::string_view problem, const VariantInfo&, const Configuration&)>;

using FirstCasesOf = std::function<FirstCases(const Family&, const std::string& problem, const DeviceInfo&)>;

/// What `espalier sweep` was asked for.
struct SweepOptions {
    std::string device = "cpu";  ///< as `devices_named` reads it: "cpu", "0", "0,1", "all"
    std::vector<std::string> families;
    std::vector<std::string> variants;  ///< "name" or "family/name"
    Effort effort = Effort::standard;
    std::vector<std::pair<std::string, std::vector<std::string>>> axes;  ///< -p axis=v1,v2
    ProblemsOf problems;         ///< instead of the default problems and axes; none: these
    HasCase has_case;            ///< none: all of them are
    FirstCasesOf first_cases;    ///< none: the baseline, then each variant's default
    bool every_counter = false;  ///< however long a run is; else of long ones those of few passes
    bool sample = false;         ///< of problems: it ends where its time ends, and misses nothing
    std::optional<double> max_seconds;
    std::optional<double> timing_seconds;  ///< per problem; none: what the effort is worth
    /// May be spent on waiting while others use the processors. 0: neither waits nor measures again what was disturbed.
    double wait_for_quiet_seconds = 0;
    bool exclusive = false;  ///< refused while another process of this user measures on one of the devices
    double noise = 0.005;    ///< half-width of the interval of a median ratio, relative
    std::uint64_t seed = 1;
    double timeout_seconds = 60;
    bool resume = false;
    int shard = 1, shards = 1;
    std::optional<Caches> caches;  ///< none: cold on a GPU, warm on a CPU
    Verification verification = Verification::budgeted;
    CounterMode counters = CounterMode::automatic;
    bool ceilings = true;  ///< measured first, unless a journal that is resumed has them; else no rooflines
    std::filesystem::path journal_folder = "results/journal";
    std::filesystem::path results_folder = "results";
    std::filesystem::path forecast_folder;  ///< results that forecasts are made from; none: results_folder
    bool merge = true;
    bool quiet = false;
};

}  // namespace espalier::bench
