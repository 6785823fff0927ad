#pragma once

#include <cstdint>
#include <vector>

#include "harness/apps/seismic/geometry.hpp"

namespace espalier::bench::seismic {

struct Event {
    Point position;
    double time = 0;  ///< of emission, in seconds from the record's beginning
};

/// A record of noise and events of which every sample can be computed by itself, so that it is the same however it
/// is cut into files, on every machine and with any number of threads.
struct SyntheticRecord {
    Receivers receivers;
    std::vector<Event> events;
    double rate = 500;       ///< samples per second
    double velocity = 2500;  ///< metres per second
    double amplitude = 1;    ///< of an event's peak at every receiver; the noise has standard deviation 1
    double frequency = 80;   ///< of the events' Ricker wavelet, in hertz
    double noise = 1;        ///< standard deviation; 0 for none
    std::uint64_t seed = 1;

    /// Samples [first, first + count) of receiver r.
    void trace(std::int64_t r, std::int64_t first, std::int64_t count, float* to) const;

    /// Writes the traces of receivers [r, r + rows), one row of `count` after the other, on all threads.
    void traces(std::int64_t r, std::int64_t rows, std::int64_t first, std::int64_t count, float* to) const;
};

/// The Ricker wavelet, 1 at its peak at time 0.
double ricker(double frequency, double time);

/// Receivers at z = 0, near the nodes of a square mesh that fills the square of side `aperture` around `centre`,
/// each moved at random by up to a third of the mesh, as nobody manages to place them exactly.
Receivers scattered_receivers(std::int64_t count, const Point& centre, double aperture, std::uint64_t seed);

/// Events at random nodes of the grid, at times spread evenly over [0, seconds), each moved at random within the middle
/// half of its share, and on a sample.
std::vector<Event> random_events(std::int64_t count, const Grid& grid, double seconds, double rate, std::uint64_t seed);

}  // namespace espalier::bench::seismic
