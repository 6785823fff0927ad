#include "harness/bench/tune/space/search.hpp"

#include <algorithm>
#include <cmath>

#include "harness/bench/learn/forest.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::tune {
namespace {

constexpr std::size_t kListed = 200'000;    // configurations: beyond, they are drawn
constexpr std::size_t kRandomFirst = 64;    // before a surrogate is asked
constexpr std::size_t kRatedAtOnce = 4096;  // by the surrogate
constexpr std::size_t kParents = 8;         // of the fastest, whose neighbours are rated, too
constexpr std::size_t kFailedDraws = 200;   // in a row: then there are hardly any more
constexpr double kOptimism = 1;             // standard deviations of the trees that a time may turn out lower

}  // namespace

Search::Search(const Description& description, std::size_t problem, std::size_t exhaustive, std::uint64_t seed)
    : description_(description), space_(description, problem), random_(seed) {
    if (auto all = space_.all(kListed)) {
        pool_ = std::move(*all);
        count_ = pool_.size();
        all_measured_ = pool_.size() <= exhaustive;
        if (pool_.empty())
            throw BadData(description.path.string() +
                          ": /ConfigurationSpace/Conditions: they leave no configuration of " +
                          description.problem_key(problem) + ": loosen one");
        std::ranges::shuffle(pool_, random_);
    }
}

std::vector<Configuration> Search::propose(std::size_t count, std::span<const Trial> trials) {
    const bool at_random = all_measured_ || trials.size() < kRandomFirst;
    std::vector<Configuration> next = at_random ? drawn(count) : by_surrogate(count, trials);
    proposed_.insert(next.begin(), next.end());
    return next;
}

std::vector<Configuration> Search::drawn(std::size_t count) {
    std::vector<Configuration> found;
    std::set<Configuration> these;
    const auto is_new = [&](const Configuration& one) { return !proposed_.contains(one) && these.insert(one).second; };
    if (count_) {
        while (found.size() < count && next_ < pool_.size())
            if (const Configuration& one = pool_[next_++]; is_new(one)) found.push_back(one);
        return found;
    }
    for (std::size_t failed = 0; found.size() < count && failed < kFailedDraws;) {
        const auto one = space_.draw(random_);
        failed = one && is_new(*one) ? 0 : failed + 1;
        if (failed == 0) found.push_back(*one);
    }
    return found;
}

/// Configurations that differ from one of the fastest in one parameter.
std::vector<Configuration> Search::neighbours_of_best(std::span<const Trial> trials) const {
    std::vector<const Trial*> best;
    for (const Trial& trial : trials)
        if (trial.time_ns) best.push_back(&trial);
    std::ranges::sort(best, {}, [](const Trial* trial) { return *trial->time_ns; });
    if (best.size() > kParents) best.resize(kParents);
    std::set<Configuration> found;
    for (const Trial* trial : best)
        for (std::size_t p = 0; p < description_.parameters.size(); ++p)
            for (std::size_t value = 0; value < description_.parameters[p].values.size(); ++value) {
                Configuration one = trial->configuration;
                one[p] = value;
                if (!proposed_.contains(one) && space_.holds(one)) found.insert(std::move(one));
            }
    return {found.begin(), found.end()};
}

/// Numbers by their logarithm, where all are positive; texts by their place.
std::vector<double> Search::features_of(const Configuration& configuration) const {
    std::vector<double> features;
    for (std::size_t p = 0; p < configuration.size(); ++p) {
        const Parameter& parameter = description_.parameters[p];
        const bool positive = std::ranges::all_of(parameter.values, [](const Value& v) { return v.number() > 0; });
        const Value& value = parameter.values[configuration[p]];
        features.push_back(value.text() ? static_cast<double>(configuration[p])
                           : positive   ? std::log2(value.number())
                                        : value.number());
    }
    return features;
}

std::vector<Configuration> Search::by_surrogate(std::size_t count, std::span<const Trial> trials) {
    const std::size_t random = std::max<std::size_t>(1, count / 8);  // for what the surrogate is wrong about
    std::vector<Configuration> rated = drawn(random), candidates = drawn(kRatedAtOnce);
    const std::vector<Configuration> neighbours = neighbours_of_best(trials);
    candidates.insert(candidates.end(), neighbours.begin(), neighbours.end());
    std::ranges::sort(candidates);
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    next_ = 0;  // the others come again
    std::ranges::shuffle(pool_, random_);
    std::erase_if(candidates, [&](const Configuration& one) { return std::ranges::find(rated, one) != rated.end(); });
    double slowest = -INFINITY;
    for (const Trial& trial : trials)
        if (trial.time_ns) slowest = std::max(slowest, std::log(*trial.time_ns));
    if (candidates.empty() || !std::isfinite(slowest)) return rated;
    learn::Table known, asked;
    known.columns = asked.columns = description_.parameters.size();
    std::vector<learn::Observation> observations;
    for (const Trial& trial : trials) {
        const std::vector<double> row = features_of(trial.configuration);
        known.values.insert(known.values.end(), row.begin(), row.end());
        observations.push_back({observations.size(), trial.time_ns ? std::log(*trial.time_ns) : slowest});
    }
    for (const Configuration& one : candidates) {
        const std::vector<double> row = features_of(one);
        asked.values.insert(asked.values.end(), row.begin(), row.end());
    }
    const learn::Forest forest(known, observations, random_());
    const std::vector<double> means = forest.at(asked), spread = forest.spread(asked, means);
    std::vector<std::size_t> order(candidates.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::size_t taken = std::min(count - rated.size(), order.size());
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(taken), {},
                              [&](std::size_t i) { return means[i] - kOptimism * spread[i]; });
    for (std::size_t i = 0; i < taken; ++i) rated.push_back(candidates[order[i]]);
    return rated;
}

}  // namespace espalier::bench::tune
