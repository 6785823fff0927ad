#include "harness/bench/learn/choice_forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "harness/bench/learn/forest.hpp"
#include "harness/bench/learn/learn.hpp"
#include "harness/bench/learn/splitmix64.hpp"

namespace espalier::bench::learn {
namespace {

class ChoiceForestGrower {
public:
    ChoiceForestGrower(const Lesson& lesson, std::span<const std::size_t> choices, std::size_t combinations,
                       const ForestOptions& options)
        : matrix_(lesson.matrix),
          options_(options),
          least_(std::max(options.least, lesson.matrix.rows() / kMostLeaves)),
          choices_(choices),
          random_(options.seed) {
        set_inputs(combinations);
        const std::size_t rows = matrix_.rows(), width = choices.size();
        columns_.resize(rows * forest_.columns());
        cells_.resize(rows * width), known_.resize(rows * width);
        for (std::size_t r = 0; r < rows; ++r) {
            forest_.read(matrix_.row(r).data(), &columns_[r * forest_.columns()]);
            const int weight = r < lesson.measured ? static_cast<int>(options.weight) : 1;
            for (std::size_t i = 0; i < width; ++i) {
                const double log = std::min(matrix_.log_slowdown(r, choices[i]) * std::numbers::log2e, options.octaves);
                const int steps = static_cast<int>(std::lround(log * ChoiceForest::kStepsPerOctave));
                const bool supported = matrix_.state(r, choices[i]) != CellState::unsupported;
                known_[r * width + i] = supported ? weight : 0;
                cells_[r * width + i] = supported ? weight * steps : 0;
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
                    input.kind == ForestInput::Kind::logarithm ? static_cast<std::int8_t>(below(3) - 1) : 0);
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
        std::vector<std::int64_t> total(width), known(width);
        sum(rows, cells_, total), sum(rows, known_, known);
        std::vector<std::uint8_t> values(width);
        for (std::size_t c = 0; c < width; ++c)
            values[c] = known[c] == 0 ? parent[c] : static_cast<std::uint8_t>((total[c] + known[c] / 2) / known[c]);
        forest_.nodes.emplace_back();
        const Split split = rows.size() < 2 * least_ ? Split{} : draw(rows, total, known);
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

    std::size_t below(std::size_t count) {
        return static_cast<std::size_t>(random_.next() * static_cast<double>(count));
    }

    [[nodiscard]] float value(std::uint32_t row, std::size_t column) const {
        return columns_[row * forest_.columns() + column];
    }

    Split draw(Rows rows, const std::vector<std::int64_t>& total, const std::vector<std::int64_t>& known) {
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
            if (std::min(holds.size(), rows.size() - holds.size()) < least_) continue;
            sum(holds, cells_, yes), sum(holds, known_, yes_known);
            double gain = 0;
            for (std::size_t c = 0; c < width; ++c) {
                const auto y = static_cast<double>(yes[c]), n = static_cast<double>(total[c] - yes[c]);
                const auto yk = static_cast<double>(yes_known[c]), nk = static_cast<double>(known[c] - yes_known[c]);
                if (yk == 0 || nk == 0) continue;
                const double apart = y / yk - n / nk;
                gain += apart * apart * (yk * nk / (yk + nk));
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
        for (std::size_t i = 0; i < count; ++i) std::swap(columns[i], columns[i + below(columns.size() - i)]);
        columns.resize(count);
        return columns;
    }

    static constexpr std::size_t kMostLeaves = 1000;  ///< of a tree, so that forests of any lesson are small

    const Matrix& matrix_;
    const ForestOptions& options_;
    std::size_t least_;  ///< problems in a leaf
    std::span<const std::size_t> choices_;
    SplitMix64 random_;
    ChoiceForest forest_;
    std::uint32_t first_leaf_ = 0;
    std::vector<float> columns_;      ///< problems x columns
    std::vector<int> cells_, known_;  ///< problems x choices
};

}  // namespace

Lesson whole_lesson(const Matrix& matrix, std::span<const std::size_t> rows, const LearnOptions& options) {
    std::vector<std::size_t> drawn(matrix.drawn ? matrix.drawn->count : 0);
    std::iota(drawn.begin(), drawn.end(), std::size_t{0});
    if (drawn.empty()) return lesson_of(matrix, rows, {}, {}, options);
    return lesson_of(matrix, rows, drawn, predict(matrix, rows, matrix.drawn->values, options), options);
}

std::vector<std::size_t> choices_beside(const Matrix& matrix, const Tree& tree) {
    std::set<std::size_t> variants;
    for (const TreeLeaf& leaf : tree.leaves)
        for (const std::size_t c : leaf.ranking) variants.insert(matrix.candidates[c].variant);
    std::vector<std::size_t> choices = matrix.all_candidates();
    std::erase_if(choices, [&](std::size_t c) { return !variants.contains(matrix.candidates[c].variant); });
    return choices;
}

ChoiceForest distil_forest(const Lesson& lesson, std::span<const std::size_t> choices, std::size_t combinations,
                           const ForestOptions& options) {
    return ChoiceForestGrower(lesson, choices, combinations, options).grow();
}

}  // namespace espalier::bench::learn
