#include "harness/bench/compare/session_shift.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <set>

namespace espalier::bench {
namespace {

constexpr std::size_t kVariants = 3;  // of a problem: one may change, and the median stays
constexpr std::size_t kProblems = 5;  // that the machine's shift is known from
constexpr int kRounds = 4;            // of fitting sessions and cases in turns; complete problems need two

using Groups = std::map<std::string, std::vector<std::size_t>>;  // indices of cases, by variant or by problem
using BySession = std::vector<double>;

/// The shift of a variant on all of its problems, by session.
using Effects = std::map<std::string, BySession>;

/// Fits time = level of the case + shift of the session, robust against cases that changed. What moved a variant on all
/// of its problems is taken off first, as far as it is known: else the median would lean towards it.
class Fit {
public:
    Fit(const std::vector<TimedCase>& cases, const Sides& sides, Effects effects = {})
        : cases_(cases), sides_(sides), effects_(std::move(effects)) {
        for (const TimedCase& one : cases) {
            double sum = 0;
            for (const Observation& time : one.times) sum += time.value;
            levels_.push_back(sum / static_cast<double>(one.times.size()));
        }
    }

    /// The shift of each session that all of these cases share; each group has one voice. NaN for sessions without.
    BySession common_shift(const Groups& voices) {
        BySession shift(sides_.sessions(), std::numeric_limits<double>::quiet_NaN());
        for (int round = 0; round < kRounds; ++round) {
            for (std::size_t session = 0; session < shift.size(); ++session) {
                const std::vector<double> deviations = deviations_in(session, voices);
                if (!deviations.empty()) shift[session] = median_of(deviations);
            }
            for (const auto& [name, members] : voices)
                for (const std::size_t i : members) levels_[i] = level_without(i, shift);
        }
        return shift;
    }

    /// How many voices each session hears at least, of those that hear any.
    [[nodiscard]] std::size_t fewest_voices(const Groups& voices) const {
        std::size_t fewest = voices.size();
        for (std::size_t session = 0; session < sides_.sessions(); ++session)
            if (const std::size_t heard = deviations_in(session, voices).size()) fewest = std::min(fewest, heard);
        return fewest;
    }

private:
    [[nodiscard]] std::vector<double> deviations_in(std::size_t session, const Groups& voices) const {
        std::vector<double> all;
        for (const auto& [name, members] : voices) {
            const auto effect = effects_.find(name);
            const double known = effect == effects_.end() ? 0 : effect->second[session];
            std::vector<double> own;
            for (const std::size_t i : members)
                for (const Observation& time : cases_[i].times)
                    if (time.session == session) own.push_back(time.value - levels_[i] - known);
            if (!own.empty()) all.push_back(median_of(std::move(own)));
        }
        return all;
    }
    [[nodiscard]] double level_without(std::size_t i, const BySession& shift) const {
        double sum = 0;
        for (const Observation& time : cases_[i].times) sum += time.value - shift[time.session];
        return sum / static_cast<double>(cases_[i].times.size());
    }

    const std::vector<TimedCase>& cases_;
    const Sides& sides_;
    Effects effects_;
    std::vector<double> levels_;
};

/// The mean over the sessions after minus that over those before; NaN unless both sides have some.
double difference_of(const BySession& shift, const Sides& sides) {
    double sums[2] = {}, counts[2] = {};
    for (std::size_t session = 0; session < shift.size(); ++session)
        if (!std::isnan(shift[session]))
            sums[session >= sides.before] += shift[session], ++counts[session >= sides.before];
    return sums[1] / counts[1] - sums[0] / counts[0];
}

Groups by_variant(const std::vector<TimedCase>& cases, const std::vector<std::size_t>& members) {
    Groups groups;
    for (const std::size_t i : members) groups[cases[i].variant].push_back(i);
    return groups;
}

/// Session by session the median over the problems.
BySession median_shift(const std::vector<BySession>& problems, std::size_t sessions) {
    BySession result(sessions, 0);
    for (std::size_t session = 0; session < sessions; ++session) {
        std::vector<double> heard;
        for (const BySession& shift : problems)
            if (!std::isnan(shift[session])) heard.push_back(shift[session]);
        if (!heard.empty()) result[session] = median_of(std::move(heard));
    }
    return result;
}

double spread_of(const std::vector<ProblemShift>& problems, double machine, const Sides& sides) {
    std::vector<double> deviations;
    for (const ProblemShift& one : problems) deviations.push_back(std::abs(one.difference - machine));
    const double per_session = 1.0 / static_cast<double>(sides.before) + 1.0 / static_cast<double>(sides.after);
    return std::pow(kOfDeviations * median_of(std::move(deviations)), 2) / per_session;
}

void subtract(const std::vector<std::size_t>& members, const BySession& shift, RelativeTimes& times) {
    for (const std::size_t i : members)
        for (Observation& time : times.cases[i]) time.value -= shift[time.session];
}

/// The median over its cases of what is left of a variant's times, about each case's own level.
BySession left_of(const std::vector<std::size_t>& members, const RelativeTimes& times, std::size_t sessions) {
    std::vector<std::vector<double>> left(sessions);
    for (const std::size_t i : members) {
        double level = 0;
        for (const Observation& time : times.cases[i]) level += time.value;
        level /= static_cast<double>(times.cases[i].size());
        for (const Observation& time : times.cases[i]) left[time.session].push_back(time.value - level);
    }
    BySession result(sessions, 0);
    for (std::size_t session = 0; session < sessions; ++session)
        if (!left[session].empty()) result[session] = median_of(std::move(left[session]));
    return result;
}

/// The shifts of the variants of these cases, as far as enough problems tell.
Effects effects_in(const RelativeTimes& times, const std::vector<TimedCase>& cases, const Sides& sides) {
    Groups variants;
    std::map<std::string, std::set<std::string>> problems;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (times.alone[i]) continue;
        variants[cases[i].variant].push_back(i);
        problems[cases[i].variant].insert(cases[i].problem);
    }
    Effects effects;
    for (const auto& [variant, members] : variants)
        if (problems[variant].size() >= kProblems) effects.emplace(variant, left_of(members, times, sides.sessions()));
    return effects;
}

/// Takes the shifts off the problems that have three variants and marks the cases of the others. Returns the shifts.
std::vector<BySession> subtract_shifts(const Groups& problems, Fit fit, const std::vector<TimedCase>& cases,
                                       const Sides& sides, RelativeTimes& times) {
    times.cases.clear(), times.problems.clear();
    for (const TimedCase& one : cases) times.cases.push_back(one.times);
    times.alone.assign(cases.size(), false);
    std::vector<BySession> shifts;
    for (const auto& [problem, members] : problems) {
        const Groups voices = by_variant(cases, members);
        if (fit.fewest_voices(voices) < kVariants) {
            for (const std::size_t i : members) times.alone[i] = true;
            continue;
        }
        shifts.push_back(fit.common_shift(voices));
        times.problems.push_back({problem, difference_of(shifts.back(), sides)});
        subtract(members, shifts.back(), times);
    }
    return shifts;
}

}  // namespace

RelativeTimes without_shifts(const std::vector<TimedCase>& cases, const Sides& sides) {
    RelativeTimes times;
    std::vector<std::size_t> everything, alone;
    Groups problems;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        problems[cases[i].problem].push_back(i);
        everything.push_back(i);
    }
    subtract_shifts(problems, Fit(cases, sides), cases, sides, times);
    const std::vector<BySession> shifts =
        subtract_shifts(problems, Fit(cases, sides, effects_in(times, cases, sides)), cases, sides, times);
    for (const std::size_t i : everything)
        if (times.alone[i]) alone.push_back(i);
    const Groups variants = by_variant(cases, everything);
    times.variants = variants.size();
    times.known_from_problems = shifts.size() >= kProblems;
    times.known = problems.size() >= kProblems;
    const BySession machine =
        times.known_from_problems ? median_shift(shifts, sides.sessions()) : Fit(cases, sides).common_shift(variants);
    times.machine = difference_of(machine, sides);
    if (times.known_from_problems) times.spread = spread_of(times.problems, times.machine, sides);
    if (times.known && times.tells_variants()) subtract(alone, machine, times);
    if (times.known && !times.tells_variants())
        for (const auto& [variant, members] : variants)
            subtract(members, Fit(cases, sides).common_shift({{variant, members}}), times);
    return times;
}

}  // namespace espalier::bench
