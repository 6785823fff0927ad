#include "tests/bench/train/ablation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "harness/bench/learn/evaluation.hpp"

namespace espalier::bench::learn {
namespace {

std::size_t baseline_of(const Matrix& matrix) { return matrix.candidates[matrix.baseline].variant; }

/// The columns of the kept variants' candidates; everything else as it is.
Matrix restricted(const Matrix& matrix, const VariantSet& kept) {
    Matrix result = matrix;
    result.candidates.clear(), result.states.clear(), result.slowdown.clear(), result.loss.clear();
    result.log_times.clear(), result.others.reset();
    std::vector<std::size_t> columns;
    for (std::size_t c = 0; c < matrix.candidates.size(); ++c) {
        if (c == matrix.baseline) result.baseline = columns.size();
        const bool stays = c == matrix.baseline || kept.contains(matrix.candidates[c].variant);
        if (stays) columns.push_back(c), result.candidates.push_back(matrix.candidates[c]);
    }
    for (std::size_t p = 0; p < matrix.rows(); ++p)
        for (const std::size_t c : columns) {
            result.states.push_back(matrix.state(p, c));
            result.slowdown.push_back(matrix.log_slowdown(p, c));
            result.loss.push_back(matrix.loss_of(p, c));
        }
    if (!matrix.drawn) return result;
    auto drawn = std::make_shared<DrawnProblems>(*matrix.drawn);
    drawn->supported.clear();
    for (std::size_t p = 0; p < drawn->count; ++p)
        for (const std::size_t c : columns)
            drawn->supported.push_back(matrix.drawn->supported[p * matrix.candidates.size() + c]);
    result.drawn = std::move(drawn);
    return result;
}

/// By problem without imputed times, the least log slowdown of any choice of a variant that has a time, else infinity.
std::vector<double> least(const Matrix& matrix, std::size_t variant) {
    std::vector<double> best;
    for (const std::size_t p : matrix.without_imputed()) {
        double& least = best.emplace_back(std::numeric_limits<double>::infinity());
        for (std::size_t c = 0; c < matrix.candidates.size(); ++c)
            if (matrix.candidates[c].variant == variant && (matrix.measured(p, c) || c == matrix.baseline))
                least = std::min(least, matrix.log_slowdown(p, c));
    }
    return best;
}

void lower(std::vector<double>& best, const std::vector<double>& other) {
    for (std::size_t p = 0; p < best.size(); ++p) best[p] = std::min(best[p], other[p]);
}

double mean_log(const std::vector<double>& logs) {
    double sum = 0;
    for (const double log : logs) sum += log;
    return sum / static_cast<double>(logs.size());
}

/// Looks for the best set of a size, the baseline being there already.
class SetSearch {
public:
    explicit SetSearch(const Matrix& matrix) : baseline_(least(matrix, baseline_of(matrix))) {
        for (const Choice& c : matrix.candidates)
            if (c.variant != baseline_of(matrix) && (variants_.empty() || variants_.back() != c.variant)) {
                variants_.push_back(c.variant);
                logs_.push_back(least(matrix, c.variant));
            }
    }

    VariantSet find(std::size_t size) {
        constexpr std::size_t kMostForAll = 20;
        if (variants_.size() <= kMostForAll)
            try_all({}, baseline_, 0, size);
        else
            add_one_by_one(size);
        return best_;
    }

private:
    void consider(const VariantSet& set, double loss) {
        if (loss < best_loss_) best_ = set, best_loss_ = loss;
    }

    void try_all(VariantSet set, const std::vector<double>& logs, std::size_t next, std::size_t more) {
        consider(set, mean_log(logs));
        for (std::size_t v = next; more > 0 && v < variants_.size(); ++v) {
            std::vector<double> with = logs;
            lower(with, logs_[v]);
            VariantSet larger = set;
            larger.insert(variants_[v]);
            try_all(std::move(larger), with, v + 1, more - 1);
        }
    }

    void add_one_by_one(std::size_t size) {
        VariantSet set;
        std::vector<double> logs = baseline_;
        consider(set, mean_log(logs));
        for (; size > 0 && set.size() < variants_.size(); --size) {
            std::size_t best = 0;
            double best_loss = std::numeric_limits<double>::infinity();
            for (std::size_t v = 0; v < variants_.size(); ++v) {
                std::vector<double> with = logs;
                lower(with, logs_[v]);
                const double loss = mean_log(with);
                if (!set.contains(variants_[v]) && loss < best_loss) best = v, best_loss = loss;
            }
            set.insert(variants_[best]);
            lower(logs, logs_[best]);
            consider(set, best_loss);
        }
    }

    std::vector<double> baseline_;
    std::vector<std::size_t> variants_;
    std::vector<std::vector<double>> logs_;
    VariantSet best_;
    double best_loss_ = std::numeric_limits<double>::infinity();
};

}  // namespace

VariantSet variants_of(const Trained& trained) {
    VariantSet all;
    for (const Choice& c : trained.evidence.matrix.candidates) all.insert(c.variant);
    return all;
}

Ablation ablate(const Trained& trained, const VariantSet& kept, const LearnOptions& options) {
    const Matrix& matrix = trained.evidence.matrix;
    Ablation result{.kept = kept};
    result.kept.insert(baseline_of(matrix));
    std::vector<double> virtual_best = least(matrix, baseline_of(matrix));
    for (const std::size_t v : result.kept) lower(virtual_best, least(matrix, v));
    result.virtual_best = std::exp(mean_log(virtual_best));

    Trained other{.family = trained.family, .evidence = {.matrix = restricted(matrix, result.kept)}};
    other.tree = learn(other.evidence.matrix, other.evidence.matrix.all(), options);
    std::vector<double> logs;
    for (const std::size_t p : matrix.without_imputed())
        logs.push_back(log_regret(other.evidence.matrix, other.tree, p));
    result.tree = std::exp(mean_log(logs));
    result.diff = compare(decisions_of(trained), decisions_of(other));
    return result;
}

VariantSet best_set(const Trained& trained, std::size_t size) {
    VariantSet set = SetSearch(trained.evidence.matrix).find(size);
    set.insert(baseline_of(trained.evidence.matrix));
    return set;
}

}  // namespace espalier::bench::learn
