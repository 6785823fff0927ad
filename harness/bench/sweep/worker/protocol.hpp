#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "harness/bench/profile/copy_rates.hpp"
#include "harness/bench/records/case_record.hpp"
#include "harness/bench/sweep/plan/options.hpp"
#include "harness/bench/sweep/plan/plan.hpp"
#include "harness/bench/sweep/record/time_spent.hpp"
#include "kernels/core/device_info.hpp"

/// What a sweep and its worker say to each other: JSON, one message per line over a socket pair. Both ends
/// are always the same program, so that there is no version to negotiate.
namespace espalier::bench::protocol {

/// To the worker: verify and time the candidates of one problem.
struct Measure {
    struct Candidate {
        std::string variant, configuration;
    };
    std::string family, problem;
    std::uint64_t seed = 0;
    double noise = 0.005;
    double timing_seconds = 10;  ///< budget of the timing alone
    double total_seconds = 1e9;  ///< after which nothing new is begun
    Caches caches = Caches::warm;
    Verification verification = Verification::budgeted;
    bool baseline = true;        ///< compare with the baseline where the oracle cannot afford the problem
    bool counters = false;       ///< collect hardware counters once everything is timed and verified
    bool every_counter = false;  ///< even of runs that take long
    bool timing = true;          ///< else nothing is verified or timed, only counted
    std::vector<Candidate> candidates;
};
/// To the worker: tell of the device what its ceilings are, what copies reach, whether counters can be collected.
enum class Question { ceilings, copies, counters };

using Request = std::variant<Measure, Question>;

/// From the worker, once, at its start.
struct Hello {
    DeviceInfo device;
    std::string driver, runtime, build;
    FreeMemory free;
    int gpus = 0;  ///< of this host; the CPU's worker does not ask
};
/// From the worker instead, if it cannot use the device.
struct NoDevice {
    std::string reason;
    int gpus = 0;  ///< of this host, which need not all be usable
};
/// The device with its ceilings filled in.
struct CeilingsDone {
    DeviceInfo device;
};
/// What copying between host and device reaches.
struct CopiesMeasured {
    CopyRates rates;
};
struct Verified {
    std::size_t candidate = 0;
    std::string how;
    std::vector<std::string> stages;  ///< the variants that ran as its stages
};
struct Failed {
    std::size_t candidate = 0;
    Status status = Status::crashed;
    std::string reason;
};
struct Timed {
    std::size_t candidate = 0;
    std::vector<double> samples_ns;
    double resolution_ns = 0;  ///< of `TimedCandidate`
};
/// Hardware counters of a candidate that has been timed; or why there are none.
struct Counted {
    std::size_t candidate = 0;
    NamedValues counters;
    std::string reason;
};
/// Whether counters can be collected, and in how many passes all of them: an empty reason means that they can.
struct CountersChecked {
    std::string reason;
    std::size_t passes = 0;
};
/// The end of a `Measure`, and where its time went.
struct Done {
    TimeSpent spent;
    Conditions conditions;
};

using Event = std::variant<Hello, NoDevice, CeilingsDone, CopiesMeasured, CountersChecked, Verified, Failed, Timed,
                           Counted, Done>;

/// Bytes of texts that are not UTF-8 are replaced. Decoding throws nlohmann's exceptions, and `BadData` for a message
/// of no known kind.
std::string encode(const Request& request);
std::string encode(const Event& event);
Request decode_request(const std::string& line);
Event decode_event(const std::string& line);

}  // namespace espalier::bench::protocol
