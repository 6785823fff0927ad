#pragma once

// Eight stations that record one event at node 58 and sample 2500.

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace espalier::seismic_network {

constexpr int kStations = 8, kNode = 58, kSample = 2500;
constexpr std::int64_t kSamples = 6000;
constexpr double kCoordinates[kStations][3] = {{0, 0, 0},      {2500, 100, 0}, {200, 2400, 0},  {2600, 2500, 0},
                                               {1200, 300, 0}, {300, 1300, 0}, {2300, 1250, 0}, {1250, 2200, 0}};
constexpr const char* kGrid = " --grid 6x6x3 --spacing 500 --origin 0,0,500 --velocity 3000 --device cpu ";

/// Noise of some counts and, at each station, a pulse when it arrives from the node.
inline std::vector<std::int32_t> counts(int station, int sample = kSample) {
    unsigned seed = 77U + static_cast<unsigned>(station);
    std::vector<std::int32_t> values;
    for (std::int64_t k = 0; k < kSamples; ++k) {
        seed = seed * 1664525 + 1013904223;
        values.push_back(static_cast<std::int32_t>(seed >> 16) % 61 - 30);
    }
    const double x = kNode % 6 * 500, y = kNode / 6 % 6 * 500, z = 500 + kNode / 36 * 500;
    const auto* at = kCoordinates[station];
    const auto delay = std::lround(std::sqrt((x - at[0]) * (x - at[0]) + (y - at[1]) * (y - at[1]) + z * z) / 30);
    for (int i = -12; i <= 12; ++i) {  // a Ricker wavelet of 8 Hz
        const double phase = std::pow(3.14159265358979 * 8 * i / 100, 2);
        if (const auto k = sample + delay + i; k < kSamples)
            values[static_cast<std::size_t>(k)] +=
                static_cast<std::int32_t>(std::lround(2000 * (1 - 2 * phase) * std::exp(-phase)));
    }
    return values;
}

inline std::string station(int number) { return "ST0" + std::to_string(number); }

inline std::string receivers_csv() {
    std::string text = "name,x,y,z\n";
    for (int s = 0; s < kStations; ++s)
        text += station(s) + "," + std::to_string(kCoordinates[s][0]) + "," + std::to_string(kCoordinates[s][1]) + "," +
                std::to_string(kCoordinates[s][2]) + "\n";
    return text;
}

}  // namespace espalier::seismic_network
