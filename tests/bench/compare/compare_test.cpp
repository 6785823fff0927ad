// What a comparison of sweeps calls changed: where nothing changed, where a variant did, and where nobody can tell.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <random>
#include <set>
#include <string>

#include "harness/bench/compare/noise.hpp"
#include "kernels/json/bad_data.hpp"
#include "tests/bench/compare/synthetic_sweeps.hpp"
#include "tests/support/trials.hpp"

namespace espalier::bench {
namespace {

using synthetic::Machine;
using synthetic::SessionNoise;

constexpr const char* kSlower = "family_1/variant_2";

std::size_t said(const Comparison& comparison) {
    return comparison.cases.size() - comparison.count(Change::same) + comparison.variants.size() -
           comparison.count_variants(Change::same);
}

const ComparedVariant& variant_of(const Comparison& comparison, const std::string& name) {
    return *std::ranges::find(comparison.variants, name, &ComparedVariant::name);
}

/// Changes of others than `kSlower`.
std::size_t others_said(const Comparison& comparison) {
    const auto cases = std::ranges::count_if(comparison.cases, [](const ComparedCase& one) {
        return one.change != Change::same && !one.key.starts_with(kSlower);
    });
    const auto variants = std::ranges::count_if(comparison.variants, [](const ComparedVariant& one) {
        return one.change != Change::same && one.name != kSlower;
    });
    return static_cast<std::size_t>(cases + variants);
}

/// How often pairs of sweeps are called different, and the variant `kSlower` slower.
struct Rates {
    int said = 0, found = 0, others_said = 0;
    std::size_t cases = 0, changed_cases = 0;
};

Rates rates_of(const Machine& before, const Machine& after, int pairs, int sessions) {
    Rates rates;
    for (unsigned pair = 0; pair < static_cast<unsigned>(pairs); ++pair) {
        const unsigned seed = 100 * pair;
        const Comparison comparison =
            compare(before.sweeps(seed, sessions), after.sweeps(seed + 50, sessions), CompareOptions{});
        rates.said += said(comparison) > 0;
        rates.found += variant_of(comparison, kSlower).change == Change::slower;
        rates.others_said += others_said(comparison) > 0;
        rates.cases += comparison.cases.size();
        rates.changed_cases += comparison.cases.size() - comparison.count(Change::same);
    }
    return rates;
}

struct Condition {
    const char* name;
    int pairs;
    int sessions;  // a side
    Machine machine;
};

Machine machine_with(const SessionNoise& noise, double unsteady = 0) {
    Machine machine;
    machine.noise = noise;
    if (unsteady > 0)
        for (int family = 0; family < machine.families; ++family) machine.unsteady[Machine::name(family, 3)] = unsteady;
    return machine;
}

/// For the names of failing tests.
void PrintTo(const Condition& condition, std::ostream* out) { *out << condition.name; }

class CompareRates : public testing::TestWithParam<Condition> {};

TEST_P(CompareRates, NothingChanged) {
    const int pairs = trials(GetParam().pairs);
    const Rates rates = rates_of(GetParam().machine, GetParam().machine, pairs, GetParam().sessions);
    RecordProperty("said", rates.said);
    EXPECT_LE(rates.said, std::max(1, pairs / 20));  // of few pairs one alone may be more than 5%
    EXPECT_LE(rates.changed_cases, rates.cases / 100);
}

INSTANTIATE_TEST_SUITE_P(
    Machines, CompareRates,
    testing::Values(Condition{"quiet", 200, 1, Machine{}}, Condition{"quiet_3_sessions", 40, 3, Machine{}},
                    // All variants of a problem by up to twice, and the machine by as much.
                    Condition{"shifting", 100, 1, machine_with({.machine = 0.3, .problem = 0.25})},
                    Condition{"heavy_tails", 200, 1,
                              machine_with({.one_case = 0.03, .outliers = 0.05, .outlier = 0.2})},
                    // Milliseconds in which others have the core: a case in a hundred lies wholly within some.
                    Condition{"others_on_the_core", 200, 1, machine_with({.outlier = 0.45})},
                    Condition{"coarse", 60, 2, machine_with({.variant = 0.01, .one_case = 0.06, .sample = 0.05})},
                    // One variant of each family differs by 30% from session to session, as if it met a neighbour.
                    Condition{"unsteady_variants", 40, 3, machine_with({}, 0.3)}),
    [](const auto& condition) { return condition.param.name; });

class CompareSlower : public testing::TestWithParam<Condition> {};

TEST_P(CompareSlower, TenPercentAreFound) {
    Machine slower = GetParam().machine;
    slower.slower[kSlower] = 1.1;
    const int pairs = trials(GetParam().pairs);
    const Rates rates = rates_of(GetParam().machine, slower, pairs, GetParam().sessions);
    RecordProperty("found", rates.found);
    EXPECT_GE(rates.found, pairs * 95 / 100);
    EXPECT_LE(rates.others_said, std::max(1, pairs / 20));
}

INSTANTIATE_TEST_SUITE_P(Machines, CompareSlower,
                         testing::Values(Condition{"quiet", 200, 1, Machine{}},
                                         Condition{"quiet_3_sessions", 40, 3, Machine{}},
                                         Condition{"shifting", 100, 1, machine_with({.machine = 0.3, .problem = 0.25})},
                                         Condition{"others_on_the_core", 100, 1, machine_with({.outlier = 0.45})}),
                         [](const auto& condition) { return condition.param.name; });

/// One more sweep of what `before` is of, in which the times of some cases are multiplied.
template <class Wanted>
ComparedSweep multiplied(ComparedSweep sweep, double factor, Wanted wanted) {
    for (CaseRecord& record : sweep.results.cases)
        if (wanted(record))
            for (double& sample : record.samples_ns) sample *= factor;
    return sweep;
}

Comparison compared(const ComparedSweep& before, const ComparedSweep& after, double threshold = 0.05) {
    return compare({before}, {after}, {.threshold = threshold, .pool = {}});
}

Machine calm() { return machine_with({.machine = 0, .problem = 0, .variant = 0, .one_case = 0.002, .outliers = 0}); }

TEST(Compare, ACommonShiftIsTheMachines) {
    const Machine machine = calm();
    const auto all = [](const CaseRecord&) { return true; };
    const auto one = [](const CaseRecord& record) { return record.problem == "size=3000"; };
    const ComparedSweep after = multiplied(multiplied(machine.sweep(2), 1.25, all), 1.6, one);
    const Comparison comparison = compared(machine.sweep(1), after);
    EXPECT_EQ(said(comparison), 0U);
    EXPECT_FALSE(comparison.regression());
    ASSERT_TRUE(comparison.machine);
    EXPECT_NEAR(*comparison.machine, 1.25, 0.01);
    EXPECT_NEAR(comparison.problems.front().ratio, 2.0, 0.02);
    EXPECT_NEAR(comparison.problems.back().ratio, 1.25, 0.02);
}

TEST(Compare, OneCaseIsFoundOnAShiftedProblem) {
    const Machine machine = calm();
    const auto problem = [](const CaseRecord& record) { return record.problem == "size=3000"; };
    const auto one = [](const CaseRecord& r) { return r.key() == "family_2/variant_0|size=3000|block=1"; };
    std::vector<ComparedSweep> after;
    for (const ComparedSweep& sweep : machine.sweeps(10, 3))
        after.push_back(multiplied(multiplied(sweep, 1.5, problem), 1.2, one));
    const Comparison comparison = compare(machine.sweeps(1, 3), after, {});
    EXPECT_EQ(said(comparison), 1U);
    EXPECT_EQ(comparison.cases.front().key, "family_2/variant_0|size=3000|block=1");
    EXPECT_EQ(comparison.cases.front().change, Change::slower);
    EXPECT_NEAR(comparison.cases.front().relative.ratio, 1.2, 0.02);
    EXPECT_NEAR(comparison.cases.front().after_ns / comparison.cases.front().before_ns, 1.8, 0.03);
}

TEST(Compare, MeasuredOnceACaseOrTwoMustBeMoreThanTwiceAsSlow) {
    const Machine machine = calm();
    const auto variant = [](const CaseRecord& r) { return r.family == "family_2" && r.variant == "variant_0"; };
    const auto on = [&](const std::set<std::string>& problems) {
        return [&variant, problems](const CaseRecord& r) { return variant(r) && problems.contains(r.problem); };
    };
    const auto verdicts = [&](double factor, const std::set<std::string>& problems) {
        return said(compared(machine.sweep(1), multiplied(machine.sweep(2), factor, on(problems))));
    };
    EXPECT_EQ(verdicts(1.9, {"size=3000"}), 0U);  // as a thread beside it on its core would make it
    EXPECT_EQ(verdicts(3, {"size=3000"}), 1U);
    // A variant that was measured on two problems alone.
    const auto two_problems = [&](ComparedSweep sweep) {
        std::erase_if(sweep.results.cases, [&](const CaseRecord& r) {
            return variant(r) && r.problem != "size=3000" && r.problem != "size=5000";
        });
        return sweep;
    };
    const auto of_two = [&](double factor) {
        const Comparison comparison =
            compared(two_problems(machine.sweep(1)), two_problems(multiplied(machine.sweep(2), factor, variant)));
        return variant_of(comparison, "family_2/variant_0").change;
    };
    EXPECT_EQ(of_two(1.9), Change::same);
    EXPECT_EQ(of_two(3), Change::slower);
}

TEST(Compare, ManyConfigurationsAreOneVoice) {
    Machine machine = calm();
    machine.variants = 3;  // of a problem's four cases two are variant 1's
    const auto variant = [](const CaseRecord& r) { return r.family == "family_0" && r.variant == "variant_1"; };
    const Comparison comparison = compared(machine.sweep(1), multiplied(machine.sweep(2), 1.2, variant));
    EXPECT_EQ(comparison.count_variants(Change::slower), 1U);
    EXPECT_EQ(comparison.count_variants(Change::faster), 0U);
    EXPECT_NEAR(variant_of(comparison, "family_0/variant_1").relative.ratio, 1.2, 0.01);
    EXPECT_NEAR(variant_of(comparison, "family_0/variant_0").relative.ratio, 1.0, 0.01);
}

TEST(Compare, AVariantAloneIsJudgedByTheMachine) {
    Machine several = calm(), lone = calm();
    several.families = 3;
    lone.families = 4, lone.variants = 1;
    const auto sweep = [&](unsigned seed, double machine, double change) {
        ComparedSweep both = several.sweep(seed);
        for (const CaseRecord& record : lone.sweep(seed).results.cases)
            if (record.family == "family_3") both.results.cases.push_back(record);
        both = multiplied(std::move(both), machine, [](const CaseRecord&) { return true; });
        return multiplied(std::move(both), change, [](const CaseRecord& one) { return one.family == "family_3"; });
    };
    const Comparison same = compared(sweep(1, 1, 1), sweep(2, 1.3, 1));
    EXPECT_EQ(said(same), 0U);
    EXPECT_EQ(same.alone, 10U);
    const Comparison slower = compared(sweep(1, 1, 1), sweep(2, 1.3, 1.5));
    EXPECT_EQ(variant_of(slower, "family_3/variant_0").change, Change::slower);
    EXPECT_TRUE(variant_of(slower, "family_3/variant_0").alone);
    EXPECT_EQ(slower.count_variants(Change::slower), 1U);
}

TEST(Compare, TwoVariantsNeedMoreThanTwice) {
    // Nobody can tell which of two changed, or whether the machine did: only what no healthy machine does counts.
    Machine machine = calm();
    machine.families = 1, machine.variants = 2;
    const auto changed = [&](double factor) {
        return compared(machine.sweep(1), multiplied(machine.sweep(2), factor, [](const CaseRecord& record) {
                            return record.variant == "variant_1";
                        }));
    };
    EXPECT_FALSE(changed(1.5).tells_variants);
    EXPECT_EQ(said(changed(1.5)), 0U);
    const Comparison much = changed(3);
    EXPECT_EQ(variant_of(much, "family_0/variant_1").change, Change::slower);
    EXPECT_EQ(variant_of(much, "family_0/variant_0").change, Change::same);
    // Repetitions tell how far the machine moves.
    const auto slower = [](const CaseRecord& record) { return record.variant == "variant_1"; };
    std::vector<ComparedSweep> after = machine.sweeps(20, 4);
    for (ComparedSweep& sweep : after) sweep = multiplied(std::move(sweep), 1.5, slower);
    const Comparison repeated = compare(machine.sweeps(10, 4), after, CompareOptions{});
    EXPECT_EQ(variant_of(repeated, "family_0/variant_1").change, Change::slower);
    EXPECT_EQ(variant_of(repeated, "family_0/variant_0").change, Change::same);
}

TEST(Compare, MoreSessionsTellSmallerChanges) {
    const Machine machine;
    double least = 10;
    for (const int sessions : {1, 2, 4, 8}) {
        const Comparison comparison =
            compare(machine.sweeps(0, sessions), machine.sweeps(50, sessions), {.threshold = 0, .pool = {}});
        EXPECT_LT(comparison.least_of_case, least) << sessions;
        least = comparison.least_of_case;
    }
    EXPECT_LT(least, 1.1);
}

TEST(Compare, AThresholdHidesWhatIsSureButSmall) {
    const Machine machine = calm();
    const auto variant = [](const CaseRecord& r) { return r.family + "/" + r.variant == kSlower; };
    const ComparedSweep after = multiplied(machine.sweep(2), 1.03, variant);
    EXPECT_EQ(said(compared(machine.sweep(1), after, 0.05)), 0U);
    EXPECT_EQ(variant_of(compared(machine.sweep(1), after, 0.02), kSlower).change, Change::slower);
    const ComparedSweep faster = multiplied(machine.sweep(2), 1 / 1.03, variant);
    EXPECT_EQ(variant_of(compared(machine.sweep(1), faster, 0.02), kSlower).change, Change::faster);
    EXPECT_FALSE(compared(machine.sweep(1), faster, 0.02).regression());
}

TEST(Compare, LoadOfOneSideIsAllowedFor) {
    const auto loaded = [](ComparedSweep sweep, double share) {
        for (CaseRecord& record : sweep.results.cases) record.conditions = {.foreign_cpu_share = share};
        return sweep;
    };
    const Machine machine = calm();
    const auto variant = [](const CaseRecord& r) { return r.family + "/" + r.variant == kSlower; };
    const ComparedSweep after = multiplied(machine.sweep(2), 1.1, variant);
    EXPECT_EQ(said(compared(loaded(machine.sweep(1), 0), loaded(after, 0.2))), 0U);
    EXPECT_EQ(variant_of(compared(loaded(machine.sweep(1), 0.2), loaded(after, 0.2)), kSlower).change, Change::slower);
}

TEST(Compare, AFailureInAnySessionAfterIsBroken) {
    const Machine machine = calm();
    const auto failing = [](ComparedSweep sweep) {
        sweep.results.cases.front().status = Status::crashed;
        sweep.results.cases.front().reason = "SIGSEGV";
        sweep.results.cases.front().samples_ns.clear();
        return sweep;
    };
    std::vector<ComparedSweep> before = machine.sweeps(1, 3), after = machine.sweeps(11, 3);
    after[1] = failing(std::move(after[1]));
    const Comparison broken = compare(before, after, CompareOptions{});
    ASSERT_EQ(broken.broken.size(), 1U);
    EXPECT_EQ(broken.broken.front().status, "crashed");
    EXPECT_TRUE(broken.regression());
    EXPECT_EQ(compare(after, before, CompareOptions{}).mended, 1U);
    before[2] = failing(std::move(before[2]));
    EXPECT_FALSE(compare(before, after, CompareOptions{}).regression()) << "it failed before";
}

TEST(Compare, OneMeasurementCountsOnce) {
    const Machine machine = calm();
    const ComparedSweep first = machine.sweep(1);
    EXPECT_THROW(compare({first}, {first}, CompareOptions{}), BadData);
    EXPECT_THROW(compare({first, machine.sweep(2)}, {machine.sweep(3), first}, CompareOptions{}), BadData);
    EXPECT_THROW(compare({first, first}, {machine.sweep(2)}, CompareOptions{}), BadData);
    ComparedSweep merged = machine.sweep(2);  // one case of it was not measured again
    merged.results.cases.front() = first.results.cases.front();
    const Comparison comparison = compared(first, merged);
    EXPECT_EQ(comparison.repeated, 1U);
    EXPECT_EQ(comparison.only_before, 1U);
    EXPECT_EQ(comparison.cases.size(), first.results.cases.size() - 1);
}

TEST(Compare, DisturbedMeasurementsAreLeftOut) {
    const Machine machine = calm();
    const auto disturbed = [](ComparedSweep sweep, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            sweep.results.cases[i].conditions = {.foreign_cpu_share = 0.48, .processors = 2};
        return sweep;
    };
    const Comparison some = compared(machine.sweep(1), disturbed(machine.sweep(2), 7));
    EXPECT_EQ(some.disturbed.measurements, 7U);
    EXPECT_EQ(some.disturbed.cases, 7U);
    EXPECT_NE(some.disturbed.cause.find("48%"), std::string::npos);
    EXPECT_EQ(some.cases.size(), machine.sweep(1).results.cases.size() - 7);
    std::vector<ComparedSweep> after = machine.sweeps(2, 2);
    after[0] = disturbed(std::move(after[0]), 7);
    const Comparison repeated = compare({machine.sweep(1)}, after, CompareOptions{});
    EXPECT_EQ(repeated.disturbed.measurements, 7U);
    EXPECT_EQ(repeated.disturbed.cases, 0U) << "the other session has them";
    const std::size_t all_cases = after[0].results.cases.size();
    for (ComparedSweep& each : after) each = disturbed(std::move(each), all_cases);
    EXPECT_THROW(compare({machine.sweep(1)}, after, CompareOptions{}), BadData);
    const CompareOptions all{.allow_disturbed = true, .pool = {}};
    EXPECT_EQ(said(compare({machine.sweep(1)}, after, all)), 0U);
    EXPECT_THROW(compare({machine.sweep(1)}, {after[0]}, all), BadData) << "nothing tells how far they differ";
}

TEST(CompareNoise, DiscoveryLevelIsBenjaminiHochbergs) {
    EXPECT_DOUBLE_EQ(discovery_level({0.5, 0.9, 0.02, 0.3}, 0.05), 0.0125) << "none: 0.05 / 4";
    EXPECT_DOUBLE_EQ(discovery_level({0.011, 0.9, 0.024, 0.3}, 0.05), 0.025) << "two of four";
    EXPECT_DOUBLE_EQ(discovery_level({0.04, 0.04, 0.04, 0.05}, 0.05), 0.05) << "all, by the last";
    EXPECT_DOUBLE_EQ(discovery_level({}, 0.05), 0.05);
}

TEST(CompareNoise, ContrastOfTwoAndThreeSessions) {
    const std::vector<Observation> sessions{{0, 1, 0.2}, {1, 3, 0.2}, {2, 4, 0.3}, {3, 5, 0.3}, {4, 9, 0.3}};
    const Contrast told = contrast(sessions, 2);
    EXPECT_DOUBLE_EQ(told.difference, 4);
    EXPECT_DOUBLE_EQ(told.sessions, 1.0 / 2 + 1.0 / 3);
    EXPECT_DOUBLE_EQ(told.within, 2 + 14);
    EXPECT_EQ(told.degrees, 3);
    EXPECT_NEAR(told.known, (0.2 / 2 + 0.3 / 3) / (5.0 / 6), 1e-12);
}

TEST(CompareNoise, UnexplainedVarianceIgnoresChanges) {
    std::mt19937_64 random(1);
    std::normal_distribution<> normal;
    std::student_t_distribution<> heavy(3);
    std::vector<Contrast> contrasts;
    for (int i = 0; i < 4000; ++i)  // 0.02 between sessions, and 0.01 of known noise
        contrasts.push_back({.difference = std::sqrt(2 * (4e-4 + 1e-4)) * heavy(random), .known = 1e-4});
    EXPECT_NEAR(std::sqrt(*unexplained_variance(contrasts)), 0.02, 0.002);
    for (int i = 0; i < 400; ++i) contrasts[static_cast<std::size_t>(10 * i)].difference += 1;
    EXPECT_NEAR(std::sqrt(*unexplained_variance(contrasts)), 0.02, 0.005);
    contrasts.resize(4);
    EXPECT_FALSE(unexplained_variance(contrasts)) << "too few to tell";
}

TEST(CompareNoise, TailsAreFittedByRepetitions) {
    std::mt19937_64 random(1);
    std::normal_distribution<> normal;
    const auto fitted = [&](double share, double factor) {
        std::vector<Contrast> contrasts;
        for (int i = 0; i < 400; ++i) {
            const double deviation = std::bernoulli_distribution(share)(random) ? factor : 1;
            const double one = deviation * normal(random), other = deviation * normal(random);
            contrasts.push_back(
                {.difference = normal(random), .sessions = 1, .within = one * one + other * other, .degrees = 2});
        }
        fit_tails(contrasts);
        return contrasts.front().prior_degrees;
    };
    EXPECT_EQ(fitted(0, 1), 3);
    EXPECT_LE(fitted(0.3, 1000), 1) << "three of ten cases jump";
}

}  // namespace
}  // namespace espalier::bench
