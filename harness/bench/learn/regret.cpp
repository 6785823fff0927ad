#include "harness/bench/learn/regret.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <vector>

namespace espalier::bench::learn {
namespace {

constexpr std::size_t kResamples = 2000;

struct Figures {
    double geomean, p90, worst;
};

/// Of a sample that has the i-th of the sorted logs `times[i]` times: the sums of a sample that was sorted, bit by bit,
/// without sorting it.
Figures figures(std::span<const double> sorted, std::span<const std::size_t> times) {
    const std::size_t rank = (9 * sorted.size() + 9) / 10;  // ceil(0.9 n), from 1
    double sum = 0, p90 = 0, worst = 0;
    std::size_t below = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
        if (times[i] == 0) continue;
        for (std::size_t time = 0; time < times[i]; ++time) sum += sorted[i];
        if (below < rank) p90 = sorted[i];
        below += times[i], worst = sorted[i];
    }
    return {std::exp(sum / static_cast<double>(sorted.size())), std::exp(p90), std::exp(worst)};
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
    std::vector<double> sorted(log_slowdowns.begin(), log_slowdowns.end());
    std::sort(sorted.begin(), sorted.end());  // the same draws whatever the order of the problems
    std::vector<std::size_t> times(n, 1);
    const Figures all = figures(sorted, times);

    std::mt19937_64 random(seed);  // its output is fixed by the standard, that of the distributions is not
    std::vector<double> geomeans, p90s, worsts;
    for (std::size_t i = 0; i < kResamples; ++i) {
        std::ranges::fill(times, 0);
        for (std::size_t draw = 0; draw < n; ++draw) ++times[random() % n];
        const Figures f = figures(sorted, times);
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
