#include "harness/bench/learn/choice_forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>

namespace espalier::bench::learn {
namespace {

/// Numbers by S. Vigna: the standard leaves open what its distributions return.
class SplitMix {
public:
    explicit SplitMix(std::uint64_t seed) : state_(seed) {}
    double next() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
    }
    std::size_t below(std::size_t count) { return static_cast<std::size_t>(next() * static_cast<double>(count)); }

private:
    std::uint64_t state_;
};

class ForestGrower {
public:
    ForestGrower(const Lesson& lesson, const std::vector<std::size_t>& choices, std::size_t combinations,
                 const ForestOptions& options)
        : lesson_(lesson), matrix_(lesson.matrix), options_(options), choices_(choices), random_(options.seed) {
        set_inputs(combinations);
        const std::size_t rows = matrix_.rows(), width = choices.size();
        columns_.resize(rows * forest_.columns());
        cells_.resize(rows * width), known_.resize(rows * width), loss_.resize(rows * width);
        for (std::size_t r = 0; r < rows; ++r) {
            forest_.read(matrix_.row(r).data(), &columns_[r * forest_.columns()]);
            const int weight = r < lesson.measured ? static_cast<int>(options.weight) : 1;
            for (std::size_t i = 0; i < width; ++i) {
                const double log = std::min(matrix_.log_slowdown(r, choices[i]) * std::numbers::log2e, options.most);
                const int steps = static_cast<int>(std::lround(log * ChoiceForest::kStepsPerOctave));
                const bool supported = matrix_.state(r, choices[i]) != CellState::unsupported;
                known_[r * width + i] = supported ? weight : 0;
                cells_[r * width + i] = supported ? weight * steps : 0;
                loss_[r * width + i] = weight * steps;
            }
        }
    }

    ChoiceForest grow() {
        std::vector<std::uint32_t> rows(matrix_.rows());
        const std::vector<std::uint8_t> nothing(choices_.size(), 255);
        for (std::size_t tree = 0; tree < options_.trees; ++tree) {
            std::iota(rows.begin(), rows.end(), 0U);
            first_leaf_ = static_cast<std::uint32_t>(forest_.leaves.size() / choices_.size());
            forest_.trees.push_back({static_cast<std::uint32_t>(forest_.nodes.size()), first_leaf_});
            grow(rows, nothing);
        }
        return std::move(forest_);
    }

private:
    using Rows = std::span<std::uint32_t>;
    struct Split {
        double gain = 0;
        std::size_t column = 0;
        float threshold = 0;
    };

    void set_inputs(std::size_t combinations) {
        forest_.choices = choices_.size();
        for (std::size_t c = 0; c < matrix_.columns.size(); ++c) {
            const Column& column = matrix_.columns[c];
            if (!column.testable() || column.is_interaction()) continue;
            const auto feature = static_cast<std::uint8_t>(c);
            for (int category = 0; category < column.categories; ++category)
                forest_.inputs.push_back({ForestInput::Kind::is, feature, static_cast<std::uint8_t>(category)});
            if (column.categories > 0) continue;
            forest_.inputs.push_back({ForestInput::Kind::logarithm, feature});
            if (!column.derived) forest_.inputs.push_back({ForestInput::Kind::evenness, feature});
        }
        for (std::size_t s = 0; s < combinations; ++s)
            for (const ForestInput& input : forest_.inputs)
                forest_.factors.push_back(
                    input.kind == ForestInput::Kind::logarithm ? static_cast<std::int8_t>(random_.below(3)) - 1 : 0);
    }

    /// Of a node's problems, by choice.
    void sum(Rows rows, const std::vector<int>& cells, std::vector<std::int64_t>& sums) const {
        const std::size_t width = choices_.size();
        std::fill(sums.begin(), sums.end(), 0);
        for (const std::uint32_t r : rows)
            for (std::size_t c = 0; c < width; ++c) sums[c] += cells[r * width + c];
    }

    void grow(Rows rows, const std::vector<std::uint8_t>& parent) {
        const std::size_t width = choices_.size(), at = forest_.nodes.size();
        std::vector<std::int64_t> total(width), known(width), loss(width);
        sum(rows, cells_, total), sum(rows, known_, known), sum(rows, loss_, loss);
        std::vector<std::uint8_t> values(width);
        for (std::size_t c = 0; c < width; ++c)
            values[c] = known[c] == 0 ? parent[c] : static_cast<std::uint8_t>((total[c] + known[c] / 2) / known[c]);
        forest_.nodes.emplace_back();
        const Split split = rows.size() < 2 * options_.least ? Split{} : draw(rows, total, known, loss);
        if (split.gain <= 0) {
            const auto leaf = static_cast<std::uint32_t>(forest_.leaves.size() / width) - first_leaf_;
            forest_.nodes[at].next = static_cast<std::uint16_t>(leaf);
            forest_.leaves.insert(forest_.leaves.end(), values.begin(), values.end());
            return;
        }
        const auto holds = [&](std::uint32_t r) { return value(r, split.column) <= split.threshold; };
        const auto middle = std::partition(rows.begin(), rows.end(), holds);
        const auto count = static_cast<std::size_t>(middle - rows.begin());
        grow(rows.first(count), values);
        forest_.nodes[at] = {split.threshold, static_cast<std::uint16_t>(split.column),
                             static_cast<std::uint16_t>(forest_.nodes.size() - at)};
        grow(rows.subspan(count), values);
    }

    [[nodiscard]] float value(std::uint32_t row, std::size_t column) const {
        return columns_[row * forest_.columns() + column];
    }

    Split draw(Rows rows, const std::vector<std::int64_t>& total, const std::vector<std::int64_t>& known,
               const std::vector<std::int64_t>& loss) {
        const std::size_t width = choices_.size();
        Split best;
        std::vector<std::int64_t> yes(width), yes_known(width);
        std::vector<std::uint32_t> holds;
        for (const std::size_t column : some_columns(rows)) {
            const auto [low, high] = range(rows, column);
            const auto threshold = static_cast<float>(low + random_.next() * (high - low));
            if (threshold >= high) continue;
            holds.clear();
            for (const std::uint32_t r : rows)
                if (value(r, column) <= threshold) holds.push_back(r);
            if (std::min(holds.size(), rows.size() - holds.size()) < options_.least) continue;
            double gain = 0;
            if (options_.by_loss) {
                sum(holds, loss_, yes);
                std::int64_t best_yes = std::numeric_limits<std::int64_t>::max(), best_no = best_yes, all = best_yes;
                for (std::size_t c = 0; c < width; ++c) {
                    best_yes = std::min(best_yes, yes[c]), best_no = std::min(best_no, loss[c] - yes[c]);
                    all = std::min(all, loss[c]);
                }
                gain = static_cast<double>(all - best_yes - best_no);
            } else {
                sum(holds, cells_, yes), sum(holds, known_, yes_known);
                for (std::size_t c = 0; c < width; ++c) {
                    const auto y = static_cast<double>(yes[c]), n = static_cast<double>(total[c] - yes[c]);
                    const auto yk = static_cast<double>(yes_known[c]), nk = static_cast<double>(known[c] - yes_known[c]);
                    if (yk == 0 || nk == 0) continue;
                    const double apart = y / yk - n / nk;
                    gain += apart * apart * (yk * nk / (yk + nk));
                }
            }
            if (gain > best.gain) best = {gain, column, threshold};
        }
        return best;
    }

    std::pair<float, float> range(Rows rows, std::size_t column) const {
        float low = std::numeric_limits<float>::infinity(), high = -low;
        for (const std::uint32_t r : rows)
            low = std::min(low, value(r, column)), high = std::max(high, value(r, column));
        return {low, high};
    }

    /// Columns in which the problems differ.
    std::vector<std::size_t> some_columns(Rows rows) {
        std::vector<std::size_t> columns;
        for (std::size_t c = 0; c < forest_.columns(); ++c)
            if (const auto [low, high] = range(rows, c); low < high) columns.push_back(c);
        const std::size_t count = std::min(options_.tried, columns.size());
        for (std::size_t i = 0; i < count; ++i) std::swap(columns[i], columns[i + random_.below(columns.size() - i)]);
        columns.resize(count);
        return columns;
    }

    const Lesson& lesson_;
    const Matrix& matrix_;
    const ForestOptions& options_;
    const std::vector<std::size_t>& choices_;
    SplitMix random_;
    ChoiceForest forest_;
    std::uint32_t first_leaf_ = 0;
    std::vector<float> columns_;               ///< problems x columns
    std::vector<int> cells_, known_, loss_;    ///< problems x choices
};

}  // namespace

ChoiceForest distil_forest(const Lesson& lesson, const std::vector<std::size_t>& choices, std::size_t combinations,
                     const ForestOptions& options) {
    return ForestGrower(lesson, choices, combinations, options).grow();
}

}  // namespace espalier::bench::learn
