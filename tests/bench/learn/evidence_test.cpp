// What training takes from results and what it refuses.

#include "harness/bench/evidence/evidence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "harness/bench/evidence/noise.hpp"
#include "tests/bench/synthetic/family.hpp"

namespace espalier::bench::learn {
namespace {

using Records = std::vector<CaseRecord>;

class EvidenceTest : public testing::Test {
protected:
    Records records = synthetic::records(synthetic::regions, synthetic::problems());
    EvidenceOptions options;

    Evidence read() const { return read_evidence(synthetic::family(), synthetic::device(), records, options); }

    CaseRecord& record(const std::string& variant, const std::string& configuration = "default") {
        return *std::find_if(records.begin(), records.end(), [&](const CaseRecord& r) {
            return r.variant == variant && r.configuration == configuration && r.status == Status::ok;
        });
    }

    std::string refusal() const {
        try {
            static_cast<void>(read());
        } catch (const BadEvidence& error) {
            return error.what();
        }
        return "";
    }

    /// So many of the 75 problems were measured beside other programs.
    void disturb(std::size_t problems, Conditions conditions = {.foreign_cpu_share = 0.48}) {
        conditions.processors = 2;
        const auto all = synthetic::problems();
        for (CaseRecord& r : records) {
            const auto at = std::find(all.begin(), all.end(), r.problem) - all.begin();
            if (r.status == Status::ok && at < static_cast<std::ptrdiff_t>(problems)) r.conditions = conditions;
        }
    }

    static std::vector<std::string> variants(const Evidence& evidence) {
        std::vector<std::string> names;
        for (const Choice& c : evidence.matrix.candidates)
            names.emplace_back(synthetic::family().variants()[c.variant].name);
        return names;
    }

    static bool mentions(const Evidence& evidence, const std::string& text) {
        return std::any_of(evidence.notices.begin(), evidence.notices.end(),
                           [&](const std::string& notice) { return notice.find(text) != std::string::npos; });
    }
};

TEST_F(EvidenceTest, BuildsTheMatrixWithoutPeers) {
    const Evidence evidence = read();
    EXPECT_EQ(variants(evidence), (std::vector<std::string>{"alpha", "alpha", "base", "beta", "gamma"}));
    EXPECT_EQ(evidence.matrix.baseline, 2U);
    EXPECT_EQ(evidence.matrix.rows(), 75U);
    EXPECT_TRUE(evidence.notices.empty());
    EXPECT_EQ(evidence.data_sha256.size(), 64U);
    for (std::size_t p = 0; p < evidence.matrix.rows(); ++p) {
        EXPECT_LT(evidence.matrix.loss_of(p, 2), kInfeasible);
        const bool declined = evidence.matrix.value(p, 0) > 1000;
        EXPECT_EQ(evidence.matrix.state(p, 4), declined ? CellState::unsupported : CellState::measured);
        Loss least = kInfeasible;
        for (std::size_t c = 0; c < 5; ++c) least = std::min(least, evidence.matrix.loss_of(p, c));
        EXPECT_EQ(least, 0);
    }
}

TEST_F(EvidenceTest, DoesNotDependOnTheOrderOfRecords) {
    const Evidence before = read();
    std::shuffle(records.begin(), records.end(), std::mt19937_64(3));
    const Evidence after = read();
    EXPECT_EQ(before.data_sha256, after.data_sha256);
    EXPECT_EQ(before.matrix.problems, after.matrix.problems);
    EXPECT_EQ(before.matrix.loss, after.matrix.loss);
}

TEST_F(EvidenceTest, DigestChangesWithWhatIsUsedAndWithNothingElse) {
    const auto before = read().data_sha256;
    record("gamma").counters_reason = "none";
    record("beta").counters.emplace_back("x", 1);
    record("peer_other").samples_ns[0] *= 2;
    EXPECT_EQ(read().data_sha256, before);
    record("beta").samples_ns[0] *= 1.0000001;
    EXPECT_NE(read().data_sha256, before);
}

TEST_F(EvidenceTest, AVariantThatWasWrongOnceIsNoCandidate) {
    for (const Status status : {Status::wrong, Status::crashed}) {
        const auto before = records;
        record("gamma").status = status;
        const Evidence evidence = read();
        EXPECT_EQ(variants(evidence), (std::vector<std::string>{"alpha", "alpha", "base", "beta"}));
        EXPECT_TRUE(mentions(evidence, "gamma was wrong"));
        records = before;
    }
    record("alpha", "block=64").status = Status::wrong;
    EXPECT_EQ(variants(read()), (std::vector<std::string>{"base", "beta", "gamma"})) << "every configuration goes";
}

TEST_F(EvidenceTest, RefusesAWrongBaseline) {
    record("base").status = Status::wrong;
    EXPECT_NE(refusal().find("the baseline base was wrong"), std::string::npos);
}

TEST_F(EvidenceTest, RefusesImplausibleTimes) {
    for (const double time : {0.0, -1.0, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
        const auto before = records;
        record("beta").time_ns = time;
        EXPECT_NE(refusal().find("implausible"), std::string::npos) << time;
        records = before;
        record("beta").samples_ns[3] = time;
        EXPECT_NE(refusal().find("implausible"), std::string::npos) << time;
        records = before;
    }
    record("beta").floor_ns = 100 * record("beta").time_ns;
    EXPECT_NE(refusal().find("implausible"), std::string::npos) << "beyond the roofline";
}

TEST_F(EvidenceTest, RefusesMixtures) {
    const auto before = records;
    record("beta").provenance.device_key = "cpu-other-4t";
    EXPECT_NE(refusal().find("device"), std::string::npos);
    const std::vector<std::pair<std::string Provenance::*, std::string>> members{
        {&Provenance::driver, "drivers"}, {&Provenance::runtime, "runtimes"}, {&Provenance::build, "builds"}};
    for (const auto& [member, name] : members) {
        records = before;
        record("beta").provenance.*member = "another";
        EXPECT_NE(refusal().find(name), std::string::npos);
        options.allow_mixed = true;
        EXPECT_EQ(refusal(), "");
        options.allow_mixed = false;
    }
    // Two builds of one kernel are none.
    records = before;
    for (CaseRecord& one : records) one.provenance.driver = "Linux 6.1.0-18-amd64";
    record("beta").provenance.driver = "Linux 6.1.0-20-amd64";
    EXPECT_EQ(refusal(), "");
    EXPECT_EQ(read().driver, "Linux 6.1.0-18-amd64, Linux 6.1.0-20-amd64");
}

TEST_F(EvidenceTest, LeavesOutAFewDisturbedProblems) {
    const std::string before = read().data_sha256;
    disturb(18);
    const Evidence evidence = read();
    EXPECT_EQ(evidence.matrix.rows(), 57U);
    EXPECT_NE(evidence.data_sha256, before) << "what is left out was not used";
    EXPECT_TRUE(mentions(evidence,
                         "left out 18 of 75 problems, which were measured while other programs used 48% of the "
                         "processors (median)"));
    options.allow_disturbed = true;
    EXPECT_EQ(read().matrix.rows(), 75U);
    EXPECT_EQ(read().data_sha256, before);
    EXPECT_TRUE(read().notices.empty());
}

TEST_F(EvidenceTest, RefusesMoreThanAQuarterDisturbed) {
    disturb(19);
    for (const char* part : {"25% of the problems of synthetic on cpu-", "other programs used 48% of the processors",
                             "sweep again on a quiet machine", "--allow-disturbed"})
        EXPECT_NE(refusal().find(part), std::string::npos) << part << " is not in: " << refusal();
    options.allow_disturbed = true;
    EXPECT_EQ(refusal(), "");
}

TEST_F(EvidenceTest, WhatHasNoTimesIsNotDisturbed) {
    options.allow_partial = true;
    disturb(10);
    const auto all = synthetic::problems();
    for (CaseRecord& r : records)
        if (std::find(all.begin(), all.begin() + 30, r.problem) == all.begin() + 30)
            r.status = Status::not_measured, r.reason = "time budget";
    EXPECT_NE(refusal().find("33% of the problems"), std::string::npos)
        << "10 of the 30 that have times: " << refusal();
}

TEST_F(EvidenceTest, RefusalNamesTheCause) {
    disturb(40, {.steal_cpu_share = 0.3});
    EXPECT_NE(refusal().find("53% of the problems"), std::string::npos) << refusal();
    EXPECT_NE(refusal().find("other guests of the host took 30%"), std::string::npos) << refusal();
    disturb(75, {.clock_share = 0.4});
    EXPECT_NE(refusal().find("the processor ran at 40% of its fastest clock"), std::string::npos) << refusal();
}

TEST_F(EvidenceTest, RefusesDuplicatesHowevertheProblemIsSpelled) {
    CaseRecord twin = record("beta");
    std::reverse(twin.samples_ns.begin(), twin.samples_ns.end());
    const auto values = synthetic::family().feature_values(twin.problem);
    twin.problem = "order=any;columns=" + std::to_string(static_cast<int>(values[1])) +
                   ";rows=" + std::to_string(static_cast<int>(values[0]));
    records.push_back(twin);
    EXPECT_NE(refusal().find("two records of beta"), std::string::npos) << refusal();
}

TEST_F(EvidenceTest, LeavesOutHolesAndRefusesMoreThanHalf) {
    const auto all = synthetic::problems();
    const auto baseline_alone = [&](std::size_t problems) {
        std::erase_if(records, [&](const CaseRecord& r) {
            return r.variant != "base" &&
                   std::find(all.begin(), all.end(), r.problem) - all.begin() < static_cast<std::ptrdiff_t>(problems);
        });
    };
    baseline_alone(all.size() / 2);
    EXPECT_EQ(read().matrix.rows(), 75U - all.size() / 2);
    EXPECT_TRUE(mentions(read(), "problems are left out"));
    baseline_alone(all.size() / 2 + 2);
    EXPECT_NE(refusal().find("--allow-partial"), std::string::npos);
}

TEST_F(EvidenceTest, AVariantThatCameLaterIsImputed) {
    const auto all = synthetic::problems();
    std::erase_if(records, [&](const CaseRecord& r) {
        return r.variant == "beta" && std::find(all.begin(), all.end(), r.problem) - all.begin() < 50;
    });
    const Evidence evidence = read();
    EXPECT_EQ(evidence.matrix.rows(), 75U);
    EXPECT_TRUE(mentions(evidence, "50 cases have no record"));
    EXPECT_TRUE(mentions(evidence, "are imputed by forests"));
}

TEST_F(EvidenceTest, WhatAnEarlierSourceDeclinedIsImputed) {
    const auto all = synthetic::problems();
    for (CaseRecord& r : records)
        if (r.variant == "beta" && std::find(all.begin(), all.end(), r.problem) - all.begin() < 50)
            r.status = Status::unsupported, r.reason = "not then";
    const Evidence evidence = read();
    EXPECT_EQ(evidence.matrix.rows(), 75U);
    EXPECT_EQ(evidence.matrix.count(CellState::imputed), 50U);
    EXPECT_TRUE(mentions(evidence, "are imputed by forests"));
}

TEST_F(EvidenceTest, HolesAreTrainedOnIfAllowed) {
    std::erase_if(records,
                  [](const CaseRecord& r) { return r.variant == "beta" && r.problem == synthetic::problems()[7]; });
    options.allow_partial = true;
    EXPECT_EQ(read().matrix.rows(), 75U);
    std::erase_if(records,
                  [](const CaseRecord& r) { return r.variant == "base" && r.problem == synthetic::problems()[9]; });
    const Evidence evidence = read();
    EXPECT_EQ(evidence.matrix.rows(), 74U) << "without the baseline a problem says nothing";
    EXPECT_TRUE(mentions(evidence, "incomplete"));
}

TEST_F(EvidenceTest, ABudgetThatRanOutIsNoHole) {
    for (CaseRecord& r : records)
        if (r.variant == "alpha" && r.problem < "rows=100000")
            r.status = Status::not_measured, r.reason = "time budget";
    EXPECT_EQ(refusal(), "");
    const std::string problem = record("base").problem;
    record("base").status = Status::not_measured;
    EXPECT_EQ(refusal(), "") << "its time is imputed like any other";
    for (CaseRecord& r : records)
        if (r.problem == problem && r.status == Status::ok) r.status = Status::not_measured, r.reason = "time budget";
    EXPECT_TRUE(mentions(read(), "1 problems no time of the baseline")) << "nothing is known of this problem";
    const auto& left = read().matrix.problems;
    EXPECT_EQ(std::find(left.begin(), left.end(), problem), left.end());
}

TEST_F(EvidenceTest, WhatIsTooSlowIsNotImputed) {
    const std::string problem = record("beta").problem;
    record("beta").status = Status::too_slow;
    const Evidence evidence = read();
    const auto& problems = evidence.matrix.problems;
    const auto names = variants(evidence);
    const auto p = static_cast<std::size_t>(std::ranges::find(problems, problem) - problems.begin());
    const auto beta = static_cast<std::size_t>(std::ranges::find(names, "beta") - names.begin());
    EXPECT_EQ(evidence.matrix.state(p, beta), CellState::missing);
}

TEST_F(EvidenceTest, ABaselineThatTimedOutStaysChoosableAsTheSlowest) {
    const std::string problem = record("base").problem;
    record("base").status = Status::timeout;
    const Evidence evidence = read();
    const auto p =
        static_cast<std::size_t>(std::find(evidence.matrix.problems.begin(), evidence.matrix.problems.end(), problem) -
                                 evidence.matrix.problems.begin());
    EXPECT_EQ(evidence.matrix.state(p, evidence.matrix.baseline), CellState::missing);
    EXPECT_LT(evidence.matrix.loss_of(p, evidence.matrix.baseline), kInfeasible);
    for (std::size_t c = 0; c < evidence.matrix.candidates.size(); ++c)
        EXPECT_LE(evidence.matrix.log_slowdown(p, c), evidence.matrix.log_slowdown(p, evidence.matrix.baseline));
}

TEST_F(EvidenceTest, ReportsWhatTheBuildDoesNotKnow) {
    for (CaseRecord& r : records)
        if (r.variant == "gamma") r.variant = "renamed\x1b[31m\n";
    for (CaseRecord& r : records)
        if (r.configuration == "block=64") r.configuration = "block=32";
    const Evidence evidence = read();
    EXPECT_EQ(variants(evidence), (std::vector<std::string>{"alpha", "base", "beta"}));
    EXPECT_TRUE(mentions(evidence, "'renamed\\x1b[31m '")) << "escapes must not reach a terminal";
    EXPECT_TRUE(mentions(evidence, "'block=32'"));
    options.strict = true;
    EXPECT_NE(refusal().find("--strict"), std::string::npos);
}

TEST_F(EvidenceTest, ReportsSourcesThatHaveChanged) {
    for (CaseRecord& r : records)
        if (r.variant == "beta") r.provenance.source_id = std::string(64, '0');
    EXPECT_TRUE(mentions(read(), "the source of beta has changed"));
    options.strict = true;
    EXPECT_NE(refusal(), "");
    options.strict = false;
    record("beta").provenance.source_id = "*/ evil";
    EXPECT_NE(refusal().find("no SHA-256"), std::string::npos);
}

TEST_F(EvidenceTest, KnownStaleIsNoNotice) {
    for (CaseRecord& r : records)
        if (r.variant == "beta") r.provenance.source_id = std::string(64, '0');
    const std::string name = std::string(synthetic::family().name()) + "/beta";
    options.known_stale[name] = {"of yet another source", "no matter"};
    EXPECT_TRUE(mentions(read(), "the source of beta has changed"));
    const auto variants = synthetic::family().variants();
    const auto beta = std::ranges::find(variants, "beta", &VariantInfo::name);
    options.known_stale[name].source_id = beta->source_id;
    options.strict = true;
    EXPECT_TRUE(read().notices.empty());
}

TEST_F(EvidenceTest, RefusesProblemsThatTheFamilyDoesNotKnow) {
    record("beta").problem = "rows=10;depth=3";
    EXPECT_NE(refusal().find("is no problem of synthetic"), std::string::npos);
}

TEST(Noise, WhoLeftEarlierIsComparedOverTheRoundsThatBothTook) {
    CaseRecord stayed{
        .samples_ns = std::vector<double>(30, 1150), .time_ns = 1150, .time_lo_ns = 1150, .time_hi_ns = 1150};
    CaseRecord left{
        .samples_ns = std::vector<double>(8, 1000), .time_ns = 1000, .time_lo_ns = 1000, .time_hi_ns = 1000};
    EXPECT_FALSE(indistinguishable(stayed, left, 0.01));
    // The machine became slower when one of the two had left.
    std::fill_n(stayed.samples_ns.begin(), 8, 1000);
    EXPECT_TRUE(indistinguishable(stayed, left, 0.01));
    EXPECT_TRUE(indistinguishable(left, stayed, 0.01));
    left.provenance.session = "another";
    EXPECT_FALSE(indistinguishable(stayed, left, 0.01)) << "rounds of two sessions are no pairs";
}

TEST_F(EvidenceTest, NoiseCostsNothing) {
    // The same code twice: nothing but noise of 2% parts beta from the baseline.
    records =
        synthetic::records([](const auto& variant, const auto&, const auto&) { return variant == "alpha" ? 200 : 100; },
                           synthetic::problems(), 0.02);
    const Evidence evidence = read();
    int paid = 0;
    for (std::size_t p = 0; p < evidence.matrix.rows(); ++p)
        for (const std::size_t c : {std::size_t{2}, std::size_t{3}})
            paid += evidence.matrix.loss_of(p, c) > kLossUnit / 1000;
    EXPECT_LE(paid, static_cast<int>(evidence.matrix.rows()) * 5 / 100);
}

TEST(ForeignEvidenceTest, TimesOfOtherProcessorsAreRefused) {
    for (const Family* family : families())
        for (const VariantInfo& variant : family->variants()) {
            if (variant.foreign.empty()) continue;
            const DeviceInfo device{.key = "cpu-elsewhere-2t"};
            CaseRecord record;
            record.family = family->name();
            record.variant = variant.name;
            record.provenance.device_key = device.key;
            EXPECT_THROW(static_cast<void>(read_evidence(*family, device, std::span(&record, 1))), ForeignEvidence);
            return;
        }
    ADD_FAILURE() << "no processor runs the code of all variants";
}

}  // namespace
}  // namespace espalier::bench::learn
