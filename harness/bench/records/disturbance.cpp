#include "harness/bench/records/disturbance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "harness/base/text/counted.hpp"

namespace espalier::bench {
namespace {

constexpr double kTakenProcessors = 0.5;   // processors' worth of time that others may take
constexpr double kBackground = 0.01;       // of the processors of a large host
constexpr double kShortWatchShare = 0.25;  // of the processors, in records that do not say of how many
// Between one busy processor and all of them, and with the widest vectors, a healthy processor's clock falls to about
// 0.6 of its fastest.
constexpr double kLeastClockShare = 0.5;
constexpr double kSlowRounds = 0.5;  // of a GPU's rounds: a median stands while fewer are slow

Disturbance larger(double foreign_share, double steal_share) {
    if (steal_share > foreign_share) return {DisturbanceCause::guests, steal_share};
    return {DisturbanceCause::programs, foreign_share};
}

std::optional<Disturbance> taken_by_others(const Conditions& conditions) {
    const double foreign = conditions.foreign_cpu_share.value_or(0), steal = conditions.steal_cpu_share.value_or(0);
    if (conditions.processors) return espalier::bench::taken_by_others(foreign, steal, *conditions.processors);
    const bool all_repeated = conditions.disturbed_rounds && conditions.disturbed_rounds == conditions.repeated_rounds;
    if (foreign + steal <= kShortWatchShare || all_repeated) return std::nullopt;
    return larger(foreign, steal);
}

}  // namespace

double tolerated_share(double processors) {
    return std::max(kTakenProcessors / std::max(processors, 1.0), kBackground);
}

std::optional<Disturbance> taken_by_others(double foreign_share, double steal_share, double processors) {
    if (foreign_share + steal_share <= tolerated_share(processors)) return std::nullopt;
    return larger(foreign_share, steal_share);
}

std::optional<Disturbance> disturbance_of(const Conditions& conditions) {
    if (conditions.sm_clock_mhz) {
        const double slow = conditions.disturbed_share.value_or(0);
        if (slow > kSlowRounds) return Disturbance{DisturbanceCause::slow_gpu, slow};
        return std::nullopt;
    }
    if (const auto others = taken_by_others(conditions)) return others;
    const double clock = conditions.clock_share.value_or(1);
    if (clock < kLeastClockShare) return Disturbance{DisturbanceCause::slow_processor, clock};
    return std::nullopt;
}

std::optional<Disturbance> disturbance_of(const CaseRecord& record) {
    return record.status == Status::ok ? disturbance_of(record.conditions) : std::nullopt;
}

std::string_view to_string(DisturbanceCause cause) {
    switch (cause) {
        case DisturbanceCause::programs: return "programs";
        case DisturbanceCause::guests: return "guests";
        case DisturbanceCause::slow_processor: return "slow_processor";
        case DisturbanceCause::slow_gpu: break;
    }
    return "slow_gpu";
}

std::string_view disturbance_name(const CaseRecord& record) {
    const auto disturbance = disturbance_of(record);
    return disturbance ? to_string(disturbance->cause) : std::string_view();
}

std::string describe(const Disturbance& disturbance) {
    const double percent = 100 * disturbance.share;
    switch (disturbance.cause) {
        case DisturbanceCause::programs: return fmt::format("other programs used {:.0f}% of the processors", percent);
        case DisturbanceCause::guests:
            return fmt::format("other guests of the host took {:.0f}% of the processors", percent);
        case DisturbanceCause::slow_processor:
            return fmt::format("the processor ran at {:.0f}% of its fastest clock", percent);
        case DisturbanceCause::slow_gpu: break;
    }
    return fmt::format("heat or the power supply slowed the GPU down in {:.0f}% of the rounds", percent);
}

std::optional<Disturbance> typical(const std::vector<Disturbance>& disturbances) {
    if (disturbances.empty()) return std::nullopt;
    std::array<std::vector<double>, 4> shares;
    for (const Disturbance& each : disturbances) shares.at(static_cast<std::size_t>(each.cause)).push_back(each.share);
    const auto most = std::ranges::max_element(shares, {}, [](const auto& list) { return list.size(); });
    std::ranges::sort(*most);
    return Disturbance{static_cast<DisturbanceCause>(most - shares.begin()), (*most)[most->size() / 2]};
}

std::string describe(std::size_t disturbed, std::size_t problems, const Disturbance& disturbance) {
    return fmt::format("{} of {} {} disturbed: {}", disturbed, counted(problems, "problem"),
                       disturbed == 1 ? "was" : "were", describe(disturbance));
}

void DisturbedProblems::add(const std::string& problem, const CaseRecord& record) {
    if (record.status != Status::ok) return;
    timed_.insert(problem);
    if (const auto disturbance = disturbance_of(record)) disturbed_.emplace(problem, *disturbance);
}

std::optional<Disturbance> DisturbedProblems::disturbance() const {
    std::vector<Disturbance> list;
    for (const auto& [problem, disturbance] : disturbed_) list.push_back(disturbance);
    return typical(list);
}

std::string DisturbedProblems::warning() const {
    const auto disturbance = this->disturbance();
    if (!disturbance) return {};
    return describe(count(), problems(), *disturbance) + "; measured values are marked ~ and win nothing" +
           (all() ? ": which variant is the fastest is not known; sweep again on a quiet machine" : "");
}

}  // namespace espalier::bench
