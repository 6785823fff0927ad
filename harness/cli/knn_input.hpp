#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "harness/apps/tables/scale.hpp"
#include "harness/apps/tables/table.hpp"
#include "harness/cli/knn_options.hpp"

namespace espalier::bench::cli {

/// The training table and the chunks of the test table, wherever they come from.
struct KnnInput {
    io::Table train;
    std::vector<std::size_t> train_numbers, test_numbers;  ///< rows of their files, from 0; empty: all, in their order
    bool truth_known = false;
    std::size_t test_rows = 65536;                     ///< if known beforehand
    std::function<bool(io::Rows&, std::size_t)> read;  ///< the next chunk of at most so many rows; false at the end
    std::function<double()> share;                     ///< of the test rows, what is read; 0 if nobody knows
    std::shared_ptr<const io::TableReader> reader;     ///< of a test table in a file of its own
    std::optional<io::StandardScale> scale;            ///< of the training rows, for the test rows

    [[nodiscard]] std::int64_t unknown_cells() const {
        std::int64_t cells = 0;
        if (reader)
            for (const io::Column& column : reader->schema().attributes) cells += column.unknown;
        return cells;
    }
    /// Labels of test rows that are counted as wrong because no training row has them.
    [[nodiscard]] std::int64_t unknown_labels() const { return reader ? reader->schema().label.unknown : 0; }
};

/// Reads the training table, tells on stderr what it was taken for, and opens or splits off the test rows, scaled if
/// the options say so. Throws BadFile and Failure.
std::unique_ptr<KnnInput> read_input(const KnnOptions& options);

}  // namespace espalier::bench::cli
