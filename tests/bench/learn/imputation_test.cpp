// Training on a sweep whose time did not suffice for some cases: measured times stay as they are, the rest is imputed
// and evaluates no choice.

#include "harness/bench/learn/imputation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "harness/bench/emit/tree_text.hpp"
#include "harness/bench/learn/distances.hpp"
#include "harness/bench/train/train.hpp"
#include "tests/bench/learn/matrices.hpp"
#include "tests/bench/synthetic/family.hpp"

namespace espalier::bench::learn {
namespace {

using Records = std::vector<CaseRecord>;

Records complete() { return synthetic::records(synthetic::regions, synthetic::problems()); }

/// All cases of every `nth` problem; of the others every second one that is not the baseline's.
Records partial(std::size_t nth) {
    Records records = complete();
    const std::vector<std::string> problems = synthetic::problems();
    std::size_t count = 0;
    for (CaseRecord& record : records) {
        const auto at = std::ranges::find(problems, record.problem) - problems.begin();
        if (record.status != Status::ok || record.role == "baseline" || static_cast<std::size_t>(at) % nth == 0)
            continue;
        if (++count % 2 == 0) continue;
        const Provenance provenance = record.provenance;
        record = {.family = record.family,
                  .variant = record.variant,
                  .role = record.role,
                  .problem = record.problem,
                  .configuration = record.configuration,
                  .status = Status::not_measured,
                  .reason = kTimeBudget};
        record.provenance = provenance;
    }
    return records;
}

TEST(Surrogate, BringsProblemsToOneScale) {
    // One choice is e times as slow as the other, whatever the problem and its scale; of some only one was measured.
    const Matrix matrix = matrix_of({{"n"}}, grid({kSizes}), 2, [](auto, std::size_t c) { return c == 0 ? 0.0 : 1.0; });
    std::vector<double> logs;
    for (const std::size_t p : matrix.all()) {
        const double scale = std::sin(static_cast<double>(p)) * 10;
        logs.insert(logs.end(), {p % 3 == 1 ? NAN : scale, p % 3 == 2 ? NAN : scale + 1});
    }
    const Surrogate surrogate(matrix, Distances(matrix), logs);
    const double distance_of_one = Distances(matrix)(0, 1);
    for (const std::size_t p : matrix.all()) {
        EXPECT_NEAR(surrogate.log(p, 1) - surrogate.log(p, 0), 1, 0.01) << p;
        EXPECT_NEAR(surrogate.uncertainty(p, 0), p % 3 == 1 ? distance_of_one : 0, 0.01) << p;
    }
}

TEST(Distances, CountSizesByRatioAndACategoryAsAWholeAxis) {
    const Matrix matrix =
        matrix_of({{"n"}, {"border", 3}}, grid({{1, 3, 15}, {0, 1, 2}}), 1, [](auto, auto) { return 0.0; });
    const Distances distance(matrix);
    EXPECT_NEAR(distance(0, 3), 1 / 3.0, 1e-12) << "1 and 3 of 1 to 15";
    EXPECT_DOUBLE_EQ(distance(0, 6), 1);
    EXPECT_DOUBLE_EQ(distance(0, 1), 1);
    EXPECT_DOUBLE_EQ(distance(0, 2), 1);
    EXPECT_DOUBLE_EQ(distance(1, 8), std::sqrt(2));
}

Trained trained_on(const Records& records, const EvidenceOptions& options = {}) {
    return train(synthetic::family(), synthetic::device(), records, {.learn = {}, .evidence = options});
}

TEST(Imputation, TakeThePlaceOfWhatTimeDidNotSufficeFor) {
    const Matrix all = read_evidence(synthetic::family(), synthetic::device(), complete()).matrix;
    const Evidence evidence = read_evidence(synthetic::family(), synthetic::device(), partial(3));
    const Matrix& known = evidence.matrix;
    ASSERT_EQ(known.problems, all.problems) << "no problem is left out for want of a baseline";
    ASSERT_EQ(known.candidates, all.candidates);
    std::size_t measured = 0;
    for (std::size_t p = 0; p < all.rows(); ++p)
        for (std::size_t c = 0; c < all.candidates.size(); ++c) {
            measured += known.measured(p, c);
            EXPECT_EQ(known.state(p, c) == CellState::unsupported, all.state(p, c) == CellState::unsupported);
            EXPECT_GE(known.log_slowdown(p, c), 0);
            EXPECT_TRUE(std::isfinite(known.log_slowdown(p, c)));
        }
    // What was measured of a problem keeps its ratios.
    for (std::size_t p = 0; p < all.rows(); ++p)
        for (std::size_t c = 1; c < all.candidates.size(); ++c)
            if (known.measured(p, 0) && known.measured(p, c)) {
                EXPECT_NEAR(known.log_slowdown(p, c) - known.log_slowdown(p, 0),
                            all.log_slowdown(p, c) - all.log_slowdown(p, 0), 1e-9);
            }
    EXPECT_GT(measured, 0U);
    const std::size_t imputed = known.count(CellState::imputed);
    EXPECT_EQ(measured + imputed, all.count(CellState::measured));
    ASSERT_EQ(evidence.notices.size(), 1U);
    EXPECT_NE(evidence.notices[0].find(std::to_string(imputed) + " of " + std::to_string(measured + imputed)),
              std::string::npos)
        << evidence.notices[0];
}

TEST(Imputation, DoNotDependOnTheOrderOfRecords) {
    Records records = partial(3);
    const Trained first = trained_on(records);
    std::ranges::shuffle(records, std::mt19937_64(7));
    const Trained second = trained_on(records);
    EXPECT_EQ(tree_text(first, synthetic::device()), tree_text(second, synthetic::device()));
    EXPECT_EQ(first.evidence.data_sha256, second.evidence.data_sha256);
}

TEST(Imputation, AreMarkedAndNeverJudgedBy) {
    const Trained full = trained_on(complete()), imputed = trained_on(partial(3));
    EXPECT_EQ(tree_text(full, synthetic::device()).find("imputed_times"), std::string::npos);
    EXPECT_FALSE(summary(full, nullptr).contains("imputed_times"));
    EXPECT_NE(tree_text(imputed, synthetic::device()).find("imputed_times"), std::string::npos);
    EXPECT_EQ(summary(imputed, nullptr).at("imputed_times"), imputed.evidence.matrix.count(CellState::imputed));
    EXPECT_LT(static_cast<std::size_t>(imputed.evaluation.training.problems), synthetic::problems().size())
        << "where the choice has no time, nothing is judged";
}

TEST(Imputation, MakeATreeThatIsGoodForProblemsThatNobodyMeasured) {
    const Matrix all = read_evidence(synthetic::family(), synthetic::device(), complete()).matrix;
    const Tree tree = trained_on(partial(4)).tree;
    double sum = 0;
    for (const std::size_t p : all.all()) sum += log_regret(all, tree, p);
    EXPECT_LT(std::exp(sum / static_cast<double>(all.rows())), 1.15);
}

TEST(Imputation, AreNotMadeOfWhatFailed) {
    Records records = partial(3);
    for (CaseRecord& record : records)
        if (record.variant == "beta" && record.status == Status::ok)
            record.status = Status::timeout, record.reason = "no progress for 60 s";
    const Matrix known = read_evidence(synthetic::family(), synthetic::device(), records).matrix;
    for (const Choice& candidate : known.candidates)
        EXPECT_NE(synthetic::family().variants()[candidate.variant].name, "beta") << "it has no time anywhere";
}

TEST(Imputation, AreNoneOfProblemsThatTimeDidNotReach) {
    Records records = complete();
    const std::string reached = synthetic::problems().front();
    for (CaseRecord& record : records)
        if (record.status == Status::ok && record.problem != reached)
            record.status = Status::not_measured, record.reason = kTimeBudget;
    EXPECT_THROW(static_cast<void>(trained_on(records)), BadEvidence);
    const Evidence evidence = read_evidence(synthetic::family(), synthetic::device(), records, {.allow_partial = true});
    EXPECT_EQ(evidence.matrix.count(CellState::imputed), 0U);
}

TEST(Imputation, AreRefusedWhenStrict) {
    EXPECT_THROW(static_cast<void>(trained_on(partial(3), {.strict = true})), BadEvidence);
}

}  // namespace
}  // namespace espalier::bench::learn
