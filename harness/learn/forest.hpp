#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace espalier::bench::learn {

/// Numbers of some problems, one row each.
struct Table {
    std::size_t columns = 0;
    std::vector<double> values{};  ///< rows x columns

    [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
    [[nodiscard]] const double* row(std::size_t r) const { return values.data() + r * columns; }
};

/// A value that is to be learned, of a row of a table.
struct Observation {
    std::size_t row = 0;
    double value = 0;
};

struct ForestOptions {
    int trees = 32;
    std::size_t least_samples = 1;  ///< in a leaf
    std::uint64_t seed = 1;
};

/// Extremely randomised regression trees (P. Geurts, D. Ernst and L. Wehenkel, Machine Learning 63, 2006): every tree
/// has all samples; of each column one threshold is drawn between its least and its largest value, and the one that
/// lowers the squares most parts the samples. The mean of many such trees is nearly smooth between samples, jumps where
/// they do, and beyond them it stays what it was at the last one.
///
/// The same bits everywhere: values are rounded to multiples of 2^-20, so that sums of them are exact.
class Forest {
public:
    Forest(const Table& table, std::span<const Observation> samples, const ForestOptions& options = {});

    /// What it predicts for every row of a table: the mean of its trees.
    [[nodiscard]] std::vector<double> at(const Table& table) const;
    /// How far the trees' predictions lie apart there: their standard deviation around `means`, what `at` returned.
    [[nodiscard]] std::vector<double> spread(const Table& table, std::span<const double> means) const;

private:
    struct Node {
        std::size_t column = 0;
        double threshold = 0;  ///< yes if the value is at most that
        std::uint32_t yes = 0, no = 0;
        double value = 0;  ///< of a leaf, which has no children
    };
    class Grower;
    [[nodiscard]] double leaf(std::uint32_t root, const double* row) const;

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> roots_;
};

}  // namespace espalier::bench::learn
