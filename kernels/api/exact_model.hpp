#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "espalier/device.hpp"
#include "espalier/exact_knn.hpp"
#include "espalier/knn.hpp"
#include "kernels/api/exact_bytes.hpp"
#include "kernels/api/exact_table.hpp"
#include "kernels/api/knn_model.hpp"
#include "kernels/api/model_file.hpp"

namespace espalier::inline v1 {

/// A model in single precision that lists candidates.
class Finder : public KnnBase {
public:
    explicit Finder(std::shared_ptr<const KnnModel> model) : KnnBase(std::move(model)) {}

    /// The same training set, asked for k candidates.
    [[nodiscard]] Finder with(std::int64_t k) const {
        KnnModel other = *model();
        other.problem.k = k;
        return Finder(shared_model(std::move(other)));
    }
    [[nodiscard]] Finder allowing_missing() const { return Finder(with_missing_allowed()); }
};

/// How candidates are found: so many, without and with missing cells among the queries.
struct Round {
    std::int64_t candidates;
    Finder finder, with_missing;

    [[nodiscard]] const Finder& finder_for(bool missing) const { return missing ? with_missing : finder; }
};

/// Whether second rounds are worth their while: what they did so far.
class SecondRounds {
public:
    /// Unless few of many queries got their neighbours from one.
    [[nodiscard]] bool worth() const {
        constexpr std::int64_t kEnough = 512, kFew = 8;
        const std::int64_t tried = tried_.load(std::memory_order_relaxed);
        return tried < kEnough || solved_.load(std::memory_order_relaxed) >= tried / kFew;
    }
    void add(std::int64_t tried, std::int64_t solved) {
        tried_.fetch_add(tried, std::memory_order_relaxed);
        solved_.fetch_add(solved, std::memory_order_relaxed);
    }

private:
    std::atomic<std::int64_t> tried_{0}, solved_{0};
};

/// The requirements of a training set and its labels.
struct ExactTask {
    model_file::Kind kind = model_file::Kind::exact_neighbours;
    std::int64_t k = 1;
    Vote vote = Vote::majority;
    Missing missing = Missing::none;
    std::vector<std::int32_t> classes{};  ///< of a classifier
    std::vector<double> targets{};        ///< of a regressor
};

/// A training set in double precision, and the models in single precision that find candidates in it.
struct ExactKnnModel : ExactTask {
    ExactKnnModel(ExactTask task, exact::Table points, const Device& on)
        : ExactTask(std::move(task)), table(std::move(points)), device(on) {}

    exact::Table table;
    Device device;
    exact::ByteRows bytes;      ///< of a CPU's model, if they tell everything of the points
    std::vector<Round> rounds;  ///< the second one lists more candidates; none: all points are looked at
    mutable SecondRounds second_rounds;

    [[nodiscard]] std::int64_t candidates() const { return rounds.empty() ? 0 : rounds.front().candidates; }
};

/// Fits rows as they are compared, one for each point, of a valid rule and with valid labels.
Result<std::shared_ptr<const ExactKnnModel>> fit_rows(const Device& device, exact::Rows rows,
                                                      const exact::RowRule& rule, ExactTask task,
                                                      const Options& options);

}  // namespace espalier::inline v1
