#include "harness/bench/sweep/plan/equal_shares.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>
#include <set>

#include "harness/bench/records/disturbance.hpp"

namespace espalier::bench {
namespace {

// A second turn gets at least so many times what the first one had.
constexpr double kMore = 1.5;

// Verifying after the timing has no deadline and may take a quarter of a problem's time beyond its end. In the first
// pass later problems make up for it; after the second nothing comes.
constexpr double kKept = 0.8;

}  // namespace

EqualShares::EqualShares(std::size_t problems, const std::vector<std::size_t>& open, std::uint64_t seed,
                         const std::vector<std::size_t>& urgent) {
    std::vector<std::size_t> all(problems);
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::mt19937_64 random(seed);
    std::shuffle(all.begin(), all.end(), random);
    const std::set<std::size_t> wanted(open.begin(), open.end());
    std::ranges::copy_if(all, std::back_inserter(order_),
                         [&](std::size_t problem) { return wanted.contains(problem); });
    const std::set<std::size_t> first(urgent.begin(), urgent.end());
    const auto rest = std::stable_partition(order_.begin(), order_.end(),
                                            [&](std::size_t problem) { return first.contains(problem); });
    urgent_ = static_cast<std::size_t>(rest - order_.begin());
}

std::optional<Task> EqualShares::next(const SchedulerState& state) {
    if (order_.empty()) return again(state);
    const std::size_t sharing = urgent_ > 0 ? urgent_-- : order_.size();
    const Task task{.problem = order_.front(), .cases = {}, .seconds = equal_share(state, sharing)};
    order_.pop_front();
    return task;
}

std::optional<Task> EqualShares::again(const SchedulerState& state) {
    SchedulerState after = state;
    after.seconds_left *= kKept;
    // Those in flight may be cut, too.
    const double share = equal_share(after, cut_.size() + state.in_flight);
    const auto least = [](const Cut& cut) { return std::max(kLeastTaskSeconds, kMore * cut.seconds); };
    const auto chosen = std::ranges::find_if(cut_, [&](const Cut& cut) { return least(cut) <= after.seconds_left; });
    if (chosen == cut_.end()) return state.quiet ? undisturbed(after) : std::nullopt;
    const Task task{.problem = chosen->problem, .cases = {}, .seconds = std::max(share, least(*chosen))};
    cut_.erase(chosen);
    return task;
}

/// The one that was disturbed first and for which there is time.
std::optional<Task> EqualShares::undisturbed(const SchedulerState& state) {
    const auto fits = [&](const Disturbed& each) { return kMore * each.seconds <= state.seconds_left; };
    const auto chosen = std::ranges::find_if(disturbed_, fits);
    if (chosen == disturbed_.end()) return std::nullopt;
    const double share = equal_share(state, disturbed_.size() + state.in_flight);
    const Task task{.problem = chosen->problem, .cases = {}, .seconds = std::max(share, kMore * chosen->seconds)};
    disturbed_.erase(chosen);
    return task;
}

void EqualShares::finished(const Task& task, std::span<const CaseRecord> records) {
    const bool cut = std::ranges::any_of(records, &CaseRecord::is_open);
    if (cut && std::isfinite(task.seconds)) {
        cut_.push_back({task.problem, task.seconds});
        return;
    }
    const auto disturbed =
        std::ranges::find_if(records, [](const CaseRecord& record) { return disturbance_of(record).has_value(); });
    if (task.visit == 0 && disturbed != records.end())
        disturbed_.push_back({task.problem, disturbed->conditions.problem_seconds.value_or(0)});
}

std::size_t EqualShares::remaining() const { return order_.empty() ? cut_.size() : order_.size(); }

}  // namespace espalier::bench
