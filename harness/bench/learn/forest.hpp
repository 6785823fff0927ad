#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "harness/bench/learn/learn_options.hpp"
#include "harness/bench/learn/matrix.hpp"

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

/// Extremely randomised regression trees (P. Geurts, D. Ernst and L. Wehenkel, Machine Learning 63, 2006): every
/// tree has all samples, and every leaf one value; of each column one threshold is drawn between its least and its
/// largest value, and the one that lowers the squares most parts the samples. The mean of many such trees is nearly
/// smooth between samples, jumps where they do, and beyond them it stays what it was at the last one.
///
/// The same bits everywhere: values are rounded to multiples of 2^-20, so that sums of them are exact.
class Forest {
public:
    Forest(const Table& table, std::span<const Observation> samples, std::uint64_t seed = 1,
           std::size_t trees = LearnOptions{}.trees);

    /// Predicts every row of a table: the mean of its trees.
    [[nodiscard]] std::vector<double> at(const Table& table) const;
    /// How far the trees' predictions lie apart there: their standard deviation around `means`, what `at` returned.
    [[nodiscard]] std::vector<double> spread(const Table& table, std::span<const double> means) const;

private:
    struct Node {
        double threshold = 0;
        double value = 0;  ///< of a leaf
        std::uint32_t column = 0;
        std::array<std::uint32_t, 2> next{};  ///< of a row at most at the threshold, and of others; a leaf's: the leaf
    };
    class Grower;
    template <class Visit>
    void visit_leaves(std::uint32_t root, const Table& table, const Visit& visit) const;

    std::vector<Node> nodes_;
    std::vector<std::uint32_t> roots_;
};

/// Problems as forests know them: sizes and derived columns by their logarithm, how often two divides a size (up
/// to 64), a category as a column for each of its values. Absent columns and pairs are left out. `values`: rows x
/// columns.
Table features(std::span<const Column> columns, std::span<const double> values);

/// Adds to the columns of `features` `count` sums of logarithms of sizes and derived columns, each of them at random
/// added, subtracted or left out (always the same draw): where two choices are equally fast often goes by a product or
/// a ratio of sizes, which a forest that asks for one at a time has to follow in steps.
Table with_combinations(std::span<const Column> columns, std::span<const double> values, std::size_t count);

/// log(time / best time) of every candidate for problems of `values` (rows x columns), as forests of `rows` of the
/// matrix predict it: rows x candidates; NaN for a candidate that was tried for none of them. A choice that failed
/// counts as the slowest one there. Problems of other devices are learned from, too, but for twins of what `rows` leave
/// out; forests may ask for the device.
std::vector<double> predict(const Matrix& matrix, std::span<const std::size_t> rows, std::span<const double> values,
                            const LearnOptions& options = {});

}  // namespace espalier::bench::learn
