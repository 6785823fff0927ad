#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"
#include "kernels/core/support.hpp"

/// Delays for coherent summation, once for all trial sources: how many samples after its emission a trial
/// source's signal arrives at each receiver, in a medium of one velocity (the travel-time stage of source S).
namespace espalier::travel_time {

enum class VariantId : std::uint16_t;

/// Where the trial sources are, and how travel times become delays. Metres, z as the receivers count it.
struct Model {
    double origin[3] = {0, 0, 0};
    double spacing[3] = {1, 1, 1};
    double samples_per_metre = 0;    ///< sampling rate / velocity
    std::int64_t phase_samples = 0;  ///< with several phases: distance of a sample to the same sample of the next phase
};

struct Buffers {
    const double* receivers = nullptr;          ///< receivers x 3 coordinates, finite, on the device of the run
    const double* receivers_on_host = nullptr;  ///< the same, where the host reads them
    std::int32_t* delays = nullptr;             ///< sources x receivers
    Model model;
};

/// The travel time in samples t is rounded to the nearest multiple of 1 / phases, halves upwards. With one phase
/// the delay is that number. With several, t = i + p / phases has the delay p * phase_samples + i: the place of
/// sample i in the p-th of `phases` copies of a trace that follow each other, the p-th interpolated p / phases of a
/// sample onwards. The caller sees to it that delays fit into 32 bits.
struct Problem {
    using Buffers = travel_time::Buffers;
    using Id = VariantId;

    std::int64_t receivers = 1920;
    std::int64_t columns = 10;  ///< of the grid of trial sources, along x, which varies fastest
    std::int64_t rows = 10;     ///< along y
    std::int64_t layers = 10;   ///< along z
    std::int64_t phases = 1;

    [[nodiscard]] constexpr std::int64_t sources() const { return columns * rows * layers; }
    [[nodiscard]] constexpr std::int64_t delays() const { return sources() * receivers; }

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{
            number<&Problem::receivers>("receivers", "problem.receivers"),
            number<&Problem::columns>("columns", "problem.columns"),
            number<&Problem::rows>("rows", "problem.rows"),
            number<&Problem::layers>("layers", "problem.layers"),
            number<&Problem::phases>("phases", "problem.phases"),
            derived<&Problem::delays>("delays", "problem.delays()"),
        };
        return list;
    }

    /// Coordinates read once, delays written once. Arithmetic is in double precision, which no ceiling is of.
    [[nodiscard]] Cost cost() const {
        return {.bytes = 24.0 * static_cast<double>(receivers) + 4.0 * static_cast<double>(delays())};
    }
};

inline Support needs_a_phase(const Problem& problem) {
    return problem.phases > 0 ? Support::yes() : Support::no("no phases: 1 is delays to the nearest sample");
}

/// The delay of a travel time in samples. Shared by the variants; sqrt is theirs, as it has no constexpr form.
constexpr std::int32_t delay_of(double samples, std::int64_t phases, std::int64_t phase_samples) {
    const auto steps = static_cast<std::int64_t>(samples * static_cast<double>(phases) + 0.5);  // not negative
    return static_cast<std::int32_t>(phases == 1 ? steps : steps % phases * phase_samples + steps / phases);
}

/// The position of a trial source along each axis.
struct Position {
    double x, y, z;
};
constexpr Position position_of(const Problem& problem, const Model& model, std::int64_t source) {
    const std::int64_t column = source % problem.columns, line = source / problem.columns;
    return {model.origin[0] + model.spacing[0] * static_cast<double>(column),
            model.origin[1] + model.spacing[1] * static_cast<double>(line % problem.rows),
            model.origin[2] + model.spacing[2] * static_cast<double>(line / problem.rows)};
}

constexpr double squared_distance(const Position& from, const double* receiver) {
    const double x = from.x - receiver[0], y = from.y - receiver[1], z = from.z - receiver[2];
    return x * x + y * y + z * z;
}

}  // namespace espalier::travel_time
