#include "harness/apps/seismic/synthetic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "harness/base/random.hpp"

namespace espalier::bench::seismic {
namespace {

// Streams of random numbers that must not be the same.
constexpr std::uint64_t kPositions = 1, kEvents = 2, kNoise = 3;

double uniform(std::uint64_t seed, std::uint64_t stream, std::uint64_t i) {
    return static_cast<double>(random_bits(seed * 16 + stream, i) >> 11) * 0x1p-53;
}

/// Close to normal, with standard deviation 1: four numbers of 16 bits, uniform and independent, added up. Whole
/// numbers until the last step, so that it is the same on every machine, which logarithms and cosines are not.
float normal(std::uint64_t bits) {
    const auto sum =
        static_cast<std::int32_t>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48));
    // Each has the variance (2^32 - 1) / 12, so that four have that of a number of deviation 37,837.
    return static_cast<float>(sum - 2 * 65535) * (1.0F / 37837.227F);
}

/// Beyond this many seconds the wavelet is below 1e-6 of its peak.
double half_width(double frequency) { return 1.5 / frequency; }

}  // namespace

double ricker(double frequency, double time) {
    const double a = std::numbers::pi * frequency * time;
    return (1 - 2 * a * a) * std::exp(-a * a);
}

void SyntheticRecord::trace(std::int64_t r, std::int64_t first, std::int64_t count, float* to) const {
    // 2^40 samples of one receiver are seventy years at 500 Hz.
    const std::uint64_t start = (static_cast<std::uint64_t>(r) << 40) + static_cast<std::uint64_t>(first);
    const std::uint64_t stream = seed * 16 + kNoise;
    const auto scale = static_cast<float>(noise);
    for (std::int64_t i = 0; i < count; ++i)
        to[i] = scale * normal(random_bits(stream, start + static_cast<std::uint64_t>(i)));
    for (const Event& event : events) {
        const double arrival =
            event.time + distance(event.position, receivers.positions[static_cast<std::size_t>(r)]) / velocity;
        // Far beyond, numbers of samples would not fit into their type.
        if (!((arrival - half_width(frequency)) * rate < static_cast<double>(first + count))) continue;
        const auto from = static_cast<std::int64_t>(std::ceil((arrival - half_width(frequency)) * rate));
        const auto until = static_cast<std::int64_t>(std::floor((arrival + half_width(frequency)) * rate)) + 1;
        for (std::int64_t k = std::max(from, first); k < std::min(until, first + count); ++k)
            to[k - first] += static_cast<float>(amplitude * ricker(frequency, static_cast<double>(k) / rate - arrival));
    }
}

void SyntheticRecord::traces(std::int64_t r, std::int64_t rows, std::int64_t first, std::int64_t count,
                             float* to) const {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows; ++i) trace(r + i, first, count, to + i * count);
}

Receivers scattered_receivers(std::int64_t count, const Point& centre, double aperture, std::uint64_t seed) {
    const auto side = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(count))));
    const double mesh = aperture / static_cast<double>(side);
    Receivers receivers;
    for (std::int64_t r = 0; r < count; ++r) {
        const auto jitter = [&](std::uint64_t axis) {
            return (uniform(seed, kPositions, 2 * static_cast<std::uint64_t>(r) + axis) - 0.5) * 2 / 3;
        };
        const auto at = [&](double middle, std::int64_t place, std::uint64_t axis) {
            const double exact = middle - aperture / 2 + mesh * (static_cast<double>(place) + 0.5 + jitter(axis));
            return std::round(exact * 100) / 100;  // centimetres: what is written is what was used
        };
        receivers.positions.push_back({at(centre.x, r % side, 0), at(centre.y, r / side, 1), 0});
        receivers.names.push_back(fmt::format("R{:05}", r + 1));
    }
    return receivers;
}

std::vector<Event> random_events(std::int64_t count, const Grid& grid, double seconds, double rate,
                                 std::uint64_t seed) {
    std::vector<Event> events;
    const double share = seconds / static_cast<double>(count);
    for (std::int64_t e = 0; e < count; ++e) {
        const auto draw = [&](std::uint64_t i) {
            return uniform(seed, kEvents, 2 * static_cast<std::uint64_t>(e) + i);
        };
        const auto node = static_cast<std::int64_t>(draw(0) * static_cast<double>(grid.nodes()));
        const double time = share * (static_cast<double>(e) + 0.25 + 0.5 * draw(1));
        events.push_back({position(grid, node), std::round(time * rate) / rate});
    }
    return events;
}

}  // namespace espalier::bench::seismic
