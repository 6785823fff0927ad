#include "harness/sweep/equal_shares.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>
#include <set>

namespace espalier {
namespace {

constexpr double kLeastSeconds = 2;  // for one problem

/// Each worker still has all the time that is left, for as many problems as it will get.
double equal_share(const Situation& situation, std::size_t problems) {
    if (!std::isfinite(situation.seconds_left)) return kUnlimitedSeconds;
    const double left = std::max(situation.seconds_left, 0.0);
    const std::size_t workers = std::max<std::size_t>(situation.workers, 1);
    const auto turns = static_cast<double>((problems + workers - 1) / workers);
    return std::clamp(left / turns, std::min(kLeastSeconds, left), left);
}

}  // namespace

EqualShares::EqualShares(std::size_t problems, const std::vector<std::size_t>& open, std::uint64_t seed) {
    std::vector<std::size_t> all(problems);
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::mt19937_64 random(seed);
    std::shuffle(all.begin(), all.end(), random);
    const std::set<std::size_t> wanted(open.begin(), open.end());
    std::ranges::copy_if(all, std::back_inserter(order_),
                         [&](std::size_t problem) { return wanted.contains(problem); });
}

std::optional<Task> EqualShares::next(const Situation& situation) {
    if (order_.empty()) return std::nullopt;
    const Task task{.problem = order_.front(), .cases = {}, .seconds = equal_share(situation, order_.size())};
    order_.pop_front();
    return task;
}

void EqualShares::finished(const Task&, std::span<const CaseRecord>) {}

std::size_t EqualShares::left() const { return order_.size(); }

}  // namespace espalier
