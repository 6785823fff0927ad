#include "harness/apps/sessions/knn_votes.hpp"

#include <algorithm>

#include "espalier/smallest_k.hpp"
#include "kernels/api/exact_vote.hpp"

namespace espalier::bench::apps {
namespace {

/// The first `most` of a query's neighbours that there are.
void list(const Predictions& predictions, std::size_t query, std::size_t queries, std::size_t most,
          std::vector<exact::Neighbour>& found) {
    found.clear();
    for (std::size_t at = 0; query + 1 < predictions.offsets.size(); ++at) {
        const auto entry = static_cast<std::size_t>(predictions.offsets[query]) + at;
        if (entry >= static_cast<std::size_t>(predictions.offsets[query + 1])) return;
        found.push_back({predictions.distances[entry], predictions.neighbours[entry]});
    }
    for (std::size_t at = query; at < predictions.neighbours.size() && found.size() < most; at += queries)
        if (predictions.neighbours[at] != kNoIndex)
            found.push_back({predictions.distances[at], predictions.neighbours[at]});
}

/// Moves what stays to the front.
void leave_out_of_radius(Predictions& predictions, std::int64_t first_row) {
    std::size_t to = 0;
    std::int64_t from = 0;
    for (std::size_t q = 0; q + 1 < predictions.offsets.size(); ++q) {
        for (; from < predictions.offsets[q + 1]; ++from) {
            const auto at = static_cast<std::size_t>(from);
            if (predictions.neighbours[at] == first_row + static_cast<std::int64_t>(q)) continue;
            predictions.neighbours[to] = predictions.neighbours[at];
            predictions.distances[to++] = predictions.distances[at];
        }
        predictions.offsets[q + 1] = static_cast<std::int64_t>(to);
    }
    predictions.neighbours.resize(to);
    predictions.distances.resize(to);
}

}  // namespace

void KnnVotes::predict(Predictions& predictions, std::int64_t k) const {
    std::vector<exact::Neighbour> found;
    const auto most = static_cast<std::size_t>(k);
    for (std::size_t q = 0; q < predictions.classes.size(); ++q) {
        list(predictions, q, predictions.classes.size(), most, found);
        predictions.classes[q] = exact::predict(found, vote_, classes_);
    }
    for (std::size_t q = 0; q < predictions.targets.size(); ++q) {
        list(predictions, q, predictions.targets.size(), most, found);
        predictions.targets[q] = exact::predict(found, vote_, targets_);
    }
}

void KnnVotes::leave_out(Predictions& predictions, std::int64_t first_row, std::size_t queries) {
    if (!predictions.offsets.empty()) return leave_out_of_radius(predictions, first_row);
    const std::size_t listed = queries == 0 ? 0 : predictions.neighbours.size() / queries;
    for (std::size_t q = 0; q < queries; ++q) {
        std::size_t to = 0;
        for (std::size_t j = 0; j < listed && to + 1 < listed; ++j) {
            const std::size_t from = j * queries + q;
            if (predictions.neighbours[from] == first_row + static_cast<std::int64_t>(q)) continue;
            predictions.neighbours[to * queries + q] = predictions.neighbours[from];
            predictions.distances[to++ * queries + q] = predictions.distances[from];
        }
    }
    predictions.neighbours.resize((listed - std::min<std::size_t>(listed, 1)) * queries);
    predictions.distances.resize(predictions.neighbours.size());
}

void KnnVotes::share(Predictions& predictions, std::size_t queries) const {
    predictions.probabilities.resize(queries * class_count_);
    std::vector<exact::Neighbour> found;
    for (std::size_t q = 0; q < queries; ++q) {
        list(predictions, q, queries, predictions.neighbours.size(), found);
        exact::share_votes(found, vote_, classes_, {predictions.probabilities.data() + q * class_count_, class_count_});
    }
}

}  // namespace espalier::bench::apps
