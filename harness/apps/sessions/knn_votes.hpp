#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "espalier/distance.hpp"
#include "espalier/exact_knn.hpp"
#include "espalier/knn.hpp"

namespace espalier::bench::apps {

struct KnnSettings {
    std::int64_t k = 5;
    std::optional<double> radius{};  ///< all neighbours within it, in place of k
    Metric metric = Metric::euclidean;
    ExactMetric exact_metric = ExactMetric::of_rule;  ///< in place of `metric`
    double p = 2;
    bool degrees = true;
    std::vector<double> attribute_weights{};  ///< one per attribute; empty: 1 each
    Vote vote = Vote::majority;
    Task task = Task::classification;
    std::string variant;         ///< instead of the selector's choice; may be empty
    bool neighbours = false;     ///< whether predictions list the neighbours
    bool probabilities = false;  ///< whether they tell each class's share of the votes
    /// The queries are the training rows, in their order, and each is predicted by all others.
    bool leave_one_out = false;
    std::size_t memory = 0;  ///< bytes that everything of a session may need together
};

/// For a chunk of queries. Lists are k x queries: the j-th nearest of query q at [j * queries + q]; within a radius,
/// those of query q are at offsets[q] to offsets[q + 1]. The share of class c of query q's votes is at
/// [q * classes + c].
struct Predictions {
    std::vector<std::int32_t> classes;
    std::vector<double> targets;
    std::vector<double> distances;
    std::vector<std::int32_t> neighbours;
    std::vector<double> probabilities;
    std::vector<std::int64_t> offsets;  ///< of neighbours within a radius; else empty
};

/// Counts the votes of neighbours that are listed, where the library's own prediction does not do: each class's share,
/// fewer neighbours than are listed, or all but the query itself.
class KnnVotes {
public:
    KnnVotes() = default;
    KnnVotes(Vote vote, std::vector<std::int32_t> classes, std::vector<double> targets, std::size_t class_count)
        : vote_(vote), classes_(std::move(classes)), targets_(std::move(targets)), class_count_(class_count) {}

    /// The classes or targets by the first k neighbours of the lists.
    void predict(Predictions& predictions, std::int64_t k) const;

    /// Takes row `first_row + q` out of query q's list; of the k nearest the last one if it is not there, so that there
    /// is one entry fewer in each.
    static void leave_out(Predictions& predictions, std::int64_t first_row, std::size_t queries);

    /// Each class's share of the votes.
    void share(Predictions& predictions, std::size_t queries) const;

    [[nodiscard]] std::size_t class_count() const { return class_count_; }

private:
    Vote vote_ = Vote::majority;
    std::vector<std::int32_t> classes_;
    std::vector<double> targets_;
    std::size_t class_count_ = 0;
};

}  // namespace espalier::bench::apps
