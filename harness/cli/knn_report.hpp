#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/apps/io/file.hpp"
#include "harness/apps/sessions/knn_session.hpp"
#include "harness/apps/tables/table.hpp"

namespace espalier::bench::cli {

/// How good the predictions are where the truth is known.
class KnnScore {
public:
    void add(const apps::Predictions& predictions, const io::Rows& truth);

    [[nodiscard]] std::int64_t rows() const { return rows_; }
    [[nodiscard]] std::int64_t correct() const { return correct_; }
    [[nodiscard]] std::int64_t unanswered() const { return unanswered_; }  ///< without any neighbour that has a say
    [[nodiscard]] double accuracy() const;
    [[nodiscard]] double root_mean_square_error() const;
    [[nodiscard]] double mean_absolute_error() const;
    [[nodiscard]] double r_squared() const;  ///< 1 is perfect, 0 as good as the mean; NaN if all truths are equal

private:
    std::int64_t rows_ = 0, correct_ = 0, unanswered_ = 0, answered_ = 0;
    double squares_ = 0, absolutes_ = 0;
    double truth_mean_ = 0, truth_spread_ = 0;  ///< running mean and sum of squared deviations (Welford)
};

/// Writes predictions as CSV: row number (from 1), prediction, the truth if it is known, and the neighbours
/// with their distances and the classes' probabilities if they were asked for. A row without an answer gets "?".
class PredictionWriter {
public:
    /// To a file, replaced when `finish` is called; to stdout if `path` is "-".
    PredictionWriter(const std::string& path, const io::Schema& schema, const apps::KnnSettings& settings,
                     bool with_truth);

    /// `row_numbers` of the queries and `train_numbers` of the training rows, both from 0; an empty vector
    /// stands for 0, 1, 2, ... (queries: from where the last chunk ended).
    void write(const apps::Predictions& predictions, const io::Rows& rows, const std::vector<std::size_t>& row_numbers,
               const std::vector<std::size_t>& train_numbers);
    void finish();

private:
    const io::Schema& schema_;
    apps::KnnSettings settings_;
    bool with_truth_;
    io::AtomicFile file_;
    std::size_t rows_written_ = 0;
};

}  // namespace espalier::bench::cli
