#pragma once

#include <cstdint>
#include <span>

#include "espalier/device.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "espalier/export.hpp"
#include "espalier/options.hpp"

namespace espalier::inline v1 {

/// A point in metres, in any Cartesian system.
struct Point {
    double x = 0;  ///< along the grid's columns
    double y = 0;  ///< along its rows
    double z = 0;  ///< along its layers
};

/// A grid of trial sources: node (i, j, l) is number (l * rows + j) * columns + i, at origin + (i, j, l) * spacing.
struct SourceGrid {
    Point origin;              ///< node 0
    Point spacing{1, 1, 1};    ///< from a node to the next of each axis
    std::int64_t columns = 1;  ///< along x, which varies fastest
    std::int64_t rows = 1;     ///< along y
    std::int64_t layers = 1;   ///< along z

    /// How many nodes it has.
    [[nodiscard]] constexpr std::int64_t nodes() const { return columns * rows * layers; }
};

/// How travel times become delays. With one phase a delay is the travel time in samples, rounded to the nearest, halves
/// upwards. With several the time i + p / phases, rounded likewise, has the delay p * phase_samples + i: the place of
/// sample i in the p-th of the copies that `interpolate_traces` makes of a trace.
struct DelayRule {
    double samples_per_metre = 1;    ///< sampling rate / velocity of the medium; positive
    std::int64_t phases = 1;         ///< fractions of a sample
    std::int64_t phase_samples = 0;  ///< from one copy of a trace to the next; 0 with one phase
};

/// For `sum_coherently`: how many samples after its emission the signal of each node of the `grid` arrives, by `rule`,
/// at each receiver, in a medium of one velocity. `receivers` are in host memory; `delays`, nodes x receivers elements,
/// are where `Options::memory` says. Returns when the delays are there, whatever `Options::wait` says. Errors:
/// invalid_argument, also for delays beyond 32 bits; unsupported, unknown_variant, out_of_memory, device_failure.
ESPALIER_API Result<void> compute_delays(const Device& device, std::span<const Point> receivers, const SourceGrid& grid,
                                         const DelayRule& rule, std::int32_t* delays, const Options& options = {});

/// Explains what `compute_delays` would run. Options: `variant`, `deterministic`, `threads`.
ESPALIER_API Result<Explanation> explain_compute_delays(const Device& device, std::int64_t receivers,
                                                        const SourceGrid& grid, const DelayRule& rule,
                                                        const Options& options = {});

}  // namespace espalier::inline v1
