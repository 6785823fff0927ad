#include "harness/bench/learn/forest.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "harness/bench/families/parallel.hpp"
#include "harness/bench/learn/splitmix64.hpp"
#include "kernels/dispatch/choice_forest.hpp"

namespace espalier::bench::learn {
namespace {

/// The problems of other devices of which `rows` have all twins: what is held out is not known from elsewhere either.
std::vector<std::size_t> others_beside(const Matrix& matrix, std::span<const std::size_t> rows) {
    std::vector<std::size_t> beside;
    if (!matrix.others) return beside;
    std::vector<char> there(matrix.rows());
    for (const std::size_t row : rows) there[row] = 1;
    for (std::size_t o = 0; o < matrix.others->count(); ++o)
        if (std::ranges::all_of(matrix.others->twins[o], [&](std::size_t twin) { return there[twin] != 0; }))
            beside.push_back(o);
    return beside;
}

/// A table with the device of each row as one more column.
Table with_devices(const Table& table, std::span<const double> devices) {
    Table wider{table.columns + 1, {}};
    for (std::size_t r = 0; r < table.rows(); ++r) {
        wider.values.insert(wider.values.end(), table.row(r), table.row(r) + table.columns);
        wider.values.push_back(devices[r]);
    }
    return wider;
}

}  // namespace

class Forest::Grower {
public:
    Grower(Forest& forest, const Table& table, std::vector<Observation> samples, std::uint64_t seed)
        : forest_(forest),
          table_(table),
          samples_(std::move(samples)),
          random_(seed),
          low_(table.columns),
          high_(table.columns),
          threshold_(table.columns),
          yes_(table.columns),
          count_(table.columns) {}

    std::uint32_t grow() { return grow(samples_); }

private:
    struct Split {
        double gain = -1, threshold = 0;
        std::size_t column = 0;
    };

    std::uint32_t grow(std::span<Observation> samples) {
        const auto index = static_cast<std::uint32_t>(forest_.nodes_.size());
        double sum = 0;
        for (const Observation& s : samples) sum += s.value;
        forest_.nodes_.push_back({.value = sum / static_cast<double>(samples.size()), .next = {index, index}});
        const auto differs = [&](const Observation& s) { return s.value != samples.front().value; };
        if (std::ranges::none_of(samples, differs)) return index;
        const Split split = draw(samples, sum);
        if (split.gain < 0) return index;
        const auto holds = [&](const Observation& s) { return table_.row(s.row)[split.column] <= split.threshold; };
        const auto others = std::partition(samples.begin(), samples.end(), holds);
        const auto count = static_cast<std::size_t>(others - samples.begin());
        const std::uint32_t yes = grow(samples.first(count)), no = grow(samples.subspan(count));
        Node& node = forest_.nodes_[index];
        node.column = static_cast<std::uint32_t>(split.column), node.threshold = split.threshold, node.next = {yes, no};
        return index;
    }

    /// Goes row by row and takes all columns of a row at once: they lie beside each other in memory, and a compiler
    /// makes vectors of them. Sums are exact, in whatever order.
    Split draw(std::span<const Observation> samples, double sum) {
        const std::size_t columns = table_.columns;
        std::ranges::fill(low_, std::numeric_limits<double>::infinity());
        std::ranges::fill(high_, -std::numeric_limits<double>::infinity());
        for (const Observation& s : samples) extend(table_.row(s.row), low_.data(), high_.data(), columns);
        for (std::size_t column = 0; column < columns; ++column) {
            threshold_[column] = low_[column];
            if (low_[column] == high_[column]) continue;
            const double drawn = low_[column] + random_.next() * (high_[column] - low_[column]);
            if (drawn < high_[column]) threshold_[column] = drawn;
        }
        std::ranges::fill(yes_, 0.0);
        std::ranges::fill(count_, 0.0);
        for (const Observation& s : samples)
            add(table_.row(s.row), s.value, threshold_.data(), yes_.data(), count_.data(), columns);
        Split best;
        const auto size = static_cast<double>(samples.size());
        for (std::size_t column = 0; column < columns; ++column) {
            if (low_[column] == high_[column]) continue;
            const double yes = yes_[column], no = sum - yes, count = count_[column];
            const double gain = yes * yes / count + no * no / (size - count);
            if (gain > best.gain) best = {gain, threshold_[column], column};
        }
        return best;
    }

    static void extend(const double* __restrict row, double* __restrict low, double* __restrict high,
                       std::size_t columns) {
        for (std::size_t c = 0; c < columns; ++c) {
            low[c] = row[c] < low[c] ? row[c] : low[c];
            high[c] = row[c] > high[c] ? row[c] : high[c];
        }
    }

    static void add(const double* __restrict row, double value, const double* __restrict threshold,
                    double* __restrict yes, double* __restrict count, std::size_t columns) {
        for (std::size_t c = 0; c < columns; ++c) {
            const double holds = row[c] <= threshold[c] ? 1 : 0;
            yes[c] += holds * value, count[c] += holds;
        }
    }

    Forest& forest_;
    const Table& table_;
    std::vector<Observation> samples_;
    SplitMix64 random_;
    std::vector<double> low_, high_, threshold_;  ///< per column: its range in a node's samples, and what parts them
    std::vector<double> yes_, count_;             ///< sum and number of the samples at most at the threshold
};

Forest::Forest(const Table& table, std::span<const Observation> samples, std::uint64_t seed, std::size_t trees) {
    std::vector<Observation> exact(samples.begin(), samples.end());
    for (Observation& s : exact) s.value = std::round(s.value * 0x1p20) * 0x1p-20;
    for (std::uint64_t tree = 0; tree < trees && !exact.empty(); ++tree)
        roots_.push_back(Grower(*this, table, exact, seed * 0x632BE59BD9B4E019ULL + tree).grow());
}

/// Calls `visit(row, value)` with the value of every row's leaf. Several rows go down at once, each to its next node
/// without a branch: a processor waits for the nodes of all together, and guesses no outcome wrong.
template <class Visit>
void Forest::visit_leaves(std::uint32_t root, const Table& table, const Visit& visit) const {
    constexpr std::size_t kAtOnce = 8;
    for (std::size_t first = 0; first < table.rows(); first += kAtOnce) {
        const std::size_t count = std::min(kAtOnce, table.rows() - first);
        std::array<std::uint32_t, kAtOnce> at{};
        std::ranges::fill(at, root);
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t i = 0; i < count; ++i) {
                const Node& node = nodes_[at[i]];
                const bool yes = table.row(first + i)[node.column] <= node.threshold;
                const std::uint32_t next = node.next[yes ? 0 : 1];
                moved |= next != at[i], at[i] = next;
            }
        }
        for (std::size_t i = 0; i < count; ++i) visit(first + i, nodes_[at[i]].value);
    }
}

std::vector<double> Forest::at(const Table& table) const {
    std::vector<double> means(table.rows());
    for (const std::uint32_t root : roots_)
        visit_leaves(root, table, [&](std::size_t r, double value) { means[r] += value; });
    for (double& mean : means) mean /= static_cast<double>(roots_.size());
    return means;
}

std::vector<double> Forest::spread(const Table& table, std::span<const double> means) const {
    std::vector<double> spread(table.rows());
    for (const std::uint32_t root : roots_)
        visit_leaves(root, table, [&](std::size_t r, double value) {
            const double apart = value - means[r];
            spread[r] += apart * apart;
        });
    for (double& s : spread) s = std::sqrt(s / static_cast<double>(roots_.size()));
    return spread;
}

Table features(std::span<const Column> columns, std::span<const double> values) {
    Table table;
    for (auto row = values; !row.empty(); row = row.subspan(columns.size())) {
        for (std::size_t c = 0; c < columns.size(); ++c) {
            if (!columns[c].is_input()) continue;
            for (int category = 0; category < columns[c].categories; ++category)
                table.values.push_back(row[c] == category);
            if (columns[c].categories > 0) continue;
            table.values.push_back(rounded_log2(row[c]));
            if (!columns[c].derived) table.values.push_back(evenness(row[c]));
        }
        if (table.columns == 0) table.columns = table.values.size();
    }
    return table;
}

Table with_combinations(std::span<const Column> columns, std::span<const double> values, std::size_t count) {
    std::vector<std::size_t> sizes;
    for (std::size_t c = 0; c < columns.size(); ++c)
        if (columns[c].is_input() && columns[c].categories == 0) sizes.push_back(c);
    SplitMix64 random(1);
    std::vector<double> factors;
    for (std::size_t i = 0; i < count * sizes.size(); ++i) factors.push_back(std::floor(3 * random.next()) - 1);
    const Table plain = features(columns, values);
    Table table{plain.columns + count, {}};
    for (std::size_t r = 0; r < plain.rows(); ++r) {
        table.values.insert(table.values.end(), plain.row(r), plain.row(r) + plain.columns);
        for (std::size_t i = 0; i < count; ++i) {
            double sum = 0;
            for (std::size_t s = 0; s < sizes.size(); ++s)
                sum += factors[i * sizes.size() + s] * rounded_log2(values[r * columns.size() + sizes[s]]);
            table.values.push_back(sum);
        }
    }
    return table;
}

std::vector<double> predict(const Matrix& matrix, std::span<const std::size_t> rows, std::span<const double> values,
                            const LearnOptions& options) {
    const std::size_t width = matrix.candidates.size(), columns = matrix.columns.size();
    const std::vector<std::size_t> others = others_beside(matrix, rows);
    std::vector<double> known = matrix.values_of(rows), devices(rows.size());
    for (const std::size_t o : others) {
        const auto of_other = std::span(matrix.others->values).subspan(o * columns, columns);
        known.insert(known.end(), of_other.begin(), of_other.end());
        devices.push_back(matrix.others->device[o]);
    }
    Table table = with_combinations(matrix.columns, known, options.combinations);
    Table to = with_combinations(matrix.columns, values, options.combinations);
    if (!others.empty()) table = with_devices(table, devices), to = with_devices(to, std::vector<double>(to.rows()));
    std::vector<double> predicted(to.rows() * width, std::numeric_limits<double>::quiet_NaN());
    in_parallel(width, [&](std::size_t c) {
        std::vector<Observation> samples;
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (matrix.state(rows[i], c) != CellState::unsupported)
                samples.push_back({i, matrix.log_slowdown(rows[i], c)});
        if (samples.empty()) return;
        for (std::size_t i = 0; i < others.size(); ++i)
            if (const double log = matrix.others->slowdown[others[i] * width + c]; !std::isnan(log))
                samples.push_back({rows.size() + i, log});
        const std::vector<double> of_candidate = Forest(table, samples, c + 1, options.trees).at(to);
        for (std::size_t r = 0; r < of_candidate.size(); ++r) predicted[r * width + c] = of_candidate[r];
    });
    return predicted;
}

}  // namespace espalier::bench::learn
