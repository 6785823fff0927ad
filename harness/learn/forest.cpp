#include "harness/learn/forest.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace espalier::bench::learn {

class Forest::Grower {
public:
    Grower(Forest& forest, const Table& table, std::vector<Observation> samples, std::size_t least, std::uint64_t seed)
        : forest_(forest), table_(table), samples_(std::move(samples)), least_(least), random_(seed) {}

    std::uint32_t grow() { return grow(samples_); }

private:
    /// SplitMix64 (S. Vigna): the standard leaves open what its distributions return.
    class Random {
    public:
        explicit Random(std::uint64_t seed) : state_(seed) {}

        /// Uniform in [0, 1).
        double next() {
            std::uint64_t z = state_ += 0x9E3779B97F4A7C15ULL;
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
            return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
        }

    private:
        std::uint64_t state_;
    };

    struct Split {
        double gain = -1, threshold = 0;
        std::size_t column = 0;
    };

    std::uint32_t grow(std::span<Observation> samples) {
        const auto index = static_cast<std::uint32_t>(forest_.nodes_.size());
        double sum = 0;
        for (const Observation& s : samples) sum += s.value;
        forest_.nodes_.push_back({.value = sum / static_cast<double>(samples.size())});
        const auto differs = [&](const Observation& s) { return s.value != samples.front().value; };
        if (samples.size() < 2 * least_ || std::ranges::none_of(samples, differs)) return index;
        const Split split = draw(samples, sum);
        if (split.gain < 0) return index;
        const auto holds = [&](const Observation& s) { return table_.row(s.row)[split.column] <= split.threshold; };
        const auto no = std::ranges::stable_partition(samples, holds);
        const auto count = static_cast<std::size_t>(no.begin() - samples.begin());
        const std::uint32_t left = grow(samples.first(count)), right = grow(samples.subspan(count));
        Node& node = forest_.nodes_[index];
        node.column = split.column, node.threshold = split.threshold, node.yes = left, node.no = right;
        return index;
    }

    Split draw(std::span<const Observation> samples, double sum) {
        Split best;
        for (std::size_t column = 0; column < table_.columns; ++column) {
            double low = std::numeric_limits<double>::infinity(), high = -low;
            for (const Observation& s : samples) {
                const double x = table_.row(s.row)[column];
                low = std::min(low, x), high = std::max(high, x);
            }
            if (low == high) continue;
            double threshold = low + random_.next() * (high - low);
            if (threshold >= high) threshold = low;
            double yes = 0;
            std::size_t count = 0;
            for (const Observation& s : samples) {
                const bool holds = table_.row(s.row)[column] <= threshold;
                yes += holds ? s.value : 0, count += holds;
            }
            if (count < least_ || samples.size() - count < least_) continue;
            const double no = sum - yes;
            const double gain =
                yes * yes / static_cast<double>(count) + no * no / static_cast<double>(samples.size() - count);
            if (gain > best.gain) best = {gain, threshold, column};
        }
        return best;
    }

    Forest& forest_;
    const Table& table_;
    std::vector<Observation> samples_;
    std::size_t least_;
    Random random_;
};

Forest::Forest(const Table& table, std::span<const Observation> samples, const ForestOptions& options) {
    std::vector<Observation> exact(samples.begin(), samples.end());
    for (Observation& s : exact) s.value = std::round(s.value * 0x1p20) * 0x1p-20;
    for (int tree = 0; tree < options.trees && !exact.empty(); ++tree)
        roots_.push_back(Grower(*this, table, exact, std::max<std::size_t>(1, options.least_samples),
                                options.seed * 0x632BE59BD9B4E019ULL + static_cast<std::uint64_t>(tree))
                             .grow());
}

double Forest::leaf(std::uint32_t root, const double* row) const {
    const Node* node = &nodes_[root];
    while (node->yes != 0) node = &nodes_[row[node->column] <= node->threshold ? node->yes : node->no];
    return node->value;
}

std::vector<double> Forest::at(const Table& table) const {
    std::vector<double> means(table.rows());
    for (const std::uint32_t root : roots_)
        for (std::size_t r = 0; r < means.size(); ++r) means[r] += leaf(root, table.row(r));
    for (double& mean : means) mean /= static_cast<double>(roots_.size());
    return means;
}

std::vector<double> Forest::spread(const Table& table, std::span<const double> means) const {
    std::vector<double> spread(table.rows());
    for (const std::uint32_t root : roots_)
        for (std::size_t r = 0; r < spread.size(); ++r) {
            const double apart = leaf(root, table.row(r)) - means[r];
            spread[r] += apart * apart;
        }
    for (double& s : spread) s = std::sqrt(s / static_cast<double>(roots_.size()));
    return spread;
}

}  // namespace espalier::bench::learn
