#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

namespace espalier::bench::learn {

struct Interval {
    double lo = 0, hi = 0;
};

/// Slowdowns against the best measured choice over some problems; 1 is perfect. Intervals are bootstrap
/// percentiles over the problems (95%); that of the worst cannot see beyond the worst one measured.
struct Regret {
    int problems = 0;
    double geomean = 1, p90 = 1, worst = 1;
    Interval geomean_interval{1, 1}, p90_interval{1, 1}, worst_interval{1, 1};
};

/// From the logarithms of the slowdowns. P90 is the nearest rank: the regret of an actual problem.
Regret summarise(std::span<const double> log_slowdowns, std::uint64_t seed);

/// A figure as files have it, with four decimals: more is noise, and the last bits of a logarithm differ between
/// machines.
double rounded(double value);

/// The figures as in selector.json.
nlohmann::ordered_json figures(const Regret& regret);

}  // namespace espalier::bench::learn
