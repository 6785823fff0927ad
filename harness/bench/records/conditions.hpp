#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace espalier::bench {

/// Numbers by name, such as a record's features and counters.
using NamedValues = std::vector<std::pair<std::string, double>>;

/// The conditions of a case: what its device and its machine did while its problem was timed, and what is told beside
/// its samples. A member of a record's `conditions` has the name of its field here; a field that is empty is left out.
struct Conditions {
    using Value = std::optional<double>;

    // What else the machine did (docs/busy-machines.md).
    Value foreign_cpu_share, steal_cpu_share;  ///< of `processors`: taken by other programs, by the host's other guests
    Value processors;                          ///< that a sweep on a CPU may use
    Value clock_share;                         ///< speed of a fixed loop, of its fastest
    Value host_foreign_share, host_steal_share;  ///< the same two shares of the host of a GPU
    Value sm_clock_mhz, temperature_c;           ///< of a GPU: the median, the highest
    Value throttle_reasons;                      ///< of a GPU: NVML's bits, of all samples

    // Rounds of timing.
    Value disturbed_rounds, repeated_rounds;
    Value disturbed_share;  ///< of the rounds that count

    Value
        problem_seconds;  ///< that the whole problem took: preparing, verification, timing, counters of all candidates
    Value counting_seconds;  ///< of these, for counters, where they were asked for

    Value gpu_ordinal;  ///< which of its host's GPUs it was, counted from 0

    /// How long copying the problem's inputs to the GPU and its outputs back takes, pageable host memory, once. Times
    /// never include it; a caller with data on the host adds it.
    Value transfer_ns;

    /// Recorded in place of samples that were shorter than the device can tell from nothing. A time that is no longer
    /// than this is a bound.
    Value resolution_ns;

    /// The raw samples were not kept: the k-NN peers that were measured before they were.
    Value samples_not_kept;

    /// Conditions that this version does not know, as they were read, in alphabetical order.
    NamedValues others;

    bool operator==(const Conditions&) const = default;
};

/// By name, in alphabetical order.
NamedValues named_values(const Conditions& conditions);

/// The inverse of `named_values`, of values in any order.
Conditions conditions_of(const NamedValues& values);

}  // namespace espalier::bench
