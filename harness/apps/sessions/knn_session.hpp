#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "espalier/device.hpp"
#include "espalier/exact_knn.hpp"
#include "harness/apps/sessions/knn_votes.hpp"
#include "harness/apps/tables/table.hpp"

namespace espalier::bench::apps {

/// A training table on a device, asked for predictions chunk by chunk.
class KnnSession {
public:
    /// Takes the rows of `train`: the model's points lie where they were read. Throws Failure if k exceeds the table's
    /// rows, the table does not suit the metric, or the device cannot hold it.
    KnnSession(const Device& device, const io::Schema& schema, io::Rows train, const KnnSettings& settings);

    /// The most rows, up to `wanted`, that one `predict` takes within the memory set. Throws Failure if not
    /// even one row does.
    [[nodiscard]] std::size_t chunk_rows(std::size_t wanted) const;

    Predictions predict(const io::Rows& rows);

    /// Why `predict` runs what it runs for so many rows.
    [[nodiscard]] std::string explanation(std::size_t rows) const;

    [[nodiscard]] std::int64_t train_rows() const { return points_; }

    /// Predicts anew from the first k neighbours of lists that hold more: its classes or targets.
    void vote(Predictions& predictions, std::int64_t k) const { votes_.predict(predictions, k); }

    /// What ran last: "knn/cpu_two_stage (budget_mib=64)".
    [[nodiscard]] const std::string& ran() const { return ran_; }

private:
    using Model = std::variant<ExactKnnClassifier, ExactKnnRegressor>;

    static Model fitted(const Device& device, const io::Schema& schema, io::Rows train, const KnnSettings& settings);
    [[nodiscard]] Result<Explanation> explain(std::size_t rows, bool missing) const;
    [[nodiscard]] std::size_t workspace_bytes(std::size_t rows) const;
    [[nodiscard]] std::size_t bytes_for(std::size_t rows) const;
    [[nodiscard]] std::string how(std::size_t rows, bool missing) const;
    void find_within_radius(const ItemsOfDoubles& queries, Predictions& predictions) const;
    void find_nearest(const ItemsOfDoubles& queries, Predictions& predictions) const;
    void leave_themselves_out(Predictions& predictions, std::size_t count);

    KnnSettings settings_;
    std::int64_t points_, dims_;
    KnnVotes votes_;             ///< of the training rows, if votes are counted here
    std::int64_t next_row_ = 0;  ///< which training row the next query is, where each is left out
    bool missing_;               ///< the training table has missing cells
    Model model_;                ///< in double precision, and so are its answers
    bool scans_ = false;         ///< no pipeline runs: the host compares all rows
    std::string ran_;
};

}  // namespace espalier::bench::apps
