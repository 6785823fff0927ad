#pragma once

// The oracle of commands that locate, for the grid that their tests share: 4 x 3 x 5 nodes 40 m apart, from 200 m down,
// 2,500 m/s, 500 Hz.

#include <cmath>
#include <cstdint>
#include <vector>

#include "harness/apps/seismic/geometry.hpp"
#include "reference_cpu/coherent_sum.hpp"
#include "reference_cpu/travel_time.hpp"

namespace espalier::bench {

/// The coherent sums at a node. `traces`: receivers x (samples + span).
inline std::vector<double> sums_of_node(std::int64_t node, const seismic::Receivers& receivers,
                                        const std::vector<float>& traces, std::int64_t samples, std::int64_t span) {
    const double origin[3] = {0, 0, 200}, spacing[3] = {40, 40, 40};
    const std::int64_t place[3] = {node % 4, node / 4 % 3, node / 12};
    std::vector<std::int32_t> delays;
    for (const auto& [x, y, z] : receivers.positions) {
        const double receiver[3] = {x, y, z};
        delays.push_back(static_cast<std::int32_t>(
            std::lround(reference::travel_samples(origin, spacing, place, receiver, 500.0 / 2500.0))));
    }
    std::vector<double> magnitude;
    return reference::coherent_sum(traces, samples + span, delays.data(), receivers.count(), samples, magnitude);
}

}  // namespace espalier::bench
