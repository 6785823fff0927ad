#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>

namespace espalier {

/// The choices that are timed for a plan. The first one is what would run otherwise; the others are compared with it.
class Trials {
public:
    Trials() = default;
    virtual ~Trials() = default;
    Trials(const Trials&) = delete;
    Trials& operator=(const Trials&) = delete;

    /// Runs a choice once over outputs that hold something else: the nanoseconds that it took, or nothing if its
    /// results are not those of the first choice's first such run.
    virtual std::optional<double> check(std::size_t choice) = 0;

    /// Nanoseconds that so many runs in a row take.
    virtual double time(std::size_t choice, int repeats) = 0;

    /// Nanoseconds of the budget that all runs have used so far: unlike the times above, without interruptions.
    [[nodiscard]] virtual double spent() const = 0;
};

struct Measured {
    std::size_t winner;
    double speedup;      ///< how many times as fast as the first choice
    double nanoseconds;  ///< of a run
    int choices;         ///< that were compared
};

/// Finds the fastest of the choices whose results are right. Times them in paired rounds, in which each that is left
/// runs once; a choice whose best ratio to the leader of a round is clearly above 1 drops out. The first choice is
/// replaced by one that is clearly faster only. `expected` are times relative to the first choice's, as far as they are
/// known, else 1: what does not fit into `budget` by them is not begun. Nothing if nothing could be compared. A choice
/// that gets no memory is left out; every other exception of the trials passes.
std::optional<Measured> measure(Trials& trials, std::span<const double> expected, std::chrono::nanoseconds budget);

}  // namespace espalier
