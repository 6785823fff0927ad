#include "harness/learn/regret.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <vector>

namespace espalier::bench::learn {
namespace {

constexpr std::size_t kResamples = 2000;

struct Figures {
    double geomean, p90, worst;
};

/// Reorders its argument.
Figures figures(std::vector<double>& logs) {
    std::sort(logs.begin(), logs.end());
    const double mean = std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
    const std::size_t rank = (9 * logs.size() + 9) / 10;  // ceil(0.9 n), from 1
    return {std::exp(mean), std::exp(logs[rank - 1]), std::exp(logs.back())};
}

nlohmann::ordered_json interval(const Interval& i) { return {rounded(i.lo), rounded(i.hi)}; }

Interval percentiles(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
    };
    return {at(0.025), at(0.975)};
}

}  // namespace

double rounded(double value) { return std::round(value * 1e4) / 1e4; }

Regret summarise(std::span<const double> log_slowdowns, std::uint64_t seed) {
    Regret regret;
    const std::size_t n = log_slowdowns.size();
    if (n == 0) return regret;
    std::vector<double> sample(log_slowdowns.begin(), log_slowdowns.end());
    std::sort(sample.begin(), sample.end());  // the same draws whatever the order of the problems
    const std::vector<double> sorted = sample;
    const Figures all = figures(sample);

    std::mt19937_64 random(seed);  // its output is fixed by the standard, that of the distributions is not
    std::vector<double> geomeans, p90s, worsts;
    for (std::size_t i = 0; i < kResamples; ++i) {
        for (double& log : sample) log = sorted[random() % n];
        const Figures f = figures(sample);
        geomeans.push_back(f.geomean), p90s.push_back(f.p90), worsts.push_back(f.worst);
    }
    return {static_cast<int>(n), all.geomean,        all.p90, all.worst, percentiles(geomeans),
            percentiles(p90s),   percentiles(worsts)};
}

nlohmann::ordered_json figures(const Regret& regret) {
    return {{"regret_geomean", rounded(regret.geomean)},
            {"regret_geomean_interval", interval(regret.geomean_interval)},
            {"regret_p90", rounded(regret.p90)},
            {"regret_p90_interval", interval(regret.p90_interval)},
            {"regret_max", rounded(regret.worst)},
            {"regret_max_interval", interval(regret.worst_interval)},
            {"problems", regret.problems}};
}

}  // namespace espalier::bench::learn
