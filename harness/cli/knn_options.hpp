#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/apps/tables/schema.hpp"
#include "harness/cli/command.hpp"

namespace espalier::bench::cli {

/// What `espalier knn` is asked for.
struct KnnOptions {
    std::string train, test, data;
    double split = 0.3;
    std::uint64_t seed = 1;
    std::uint64_t test_rows = 0;  ///< 0: a random split
    io::TableOptions table;
    std::string radius_text, format = "auto", delimiter = ",", decimal = ".", thousands = "none", comment;
    bool header = false, no_header = false, regression = false;
    std::string metric = "auto", angles = "degrees", weights = "uniform", scale = "none", unknown = "error",
                unknown_labels = "error", device = "auto", variant, output;
    double p = 3;                                ///< of the metric minkowski
    std::vector<std::string> attribute_weights;  ///< "age=2", by name or number
    std::int64_t k = 5;
    std::optional<double> radius;       ///< instead of k
    std::vector<std::string> choose_k;  ///< numbers of neighbours of which the best is taken; empty: `k`
    std::vector<std::int64_t> ks;       ///< the same as numbers, ascending
    std::uint64_t memory = 0;           ///< 0: half of what the device has
    bool leave_one_out = false;
    bool neighbours = false, probabilities = false, explain = false, json = false, quiet = false;
};

/// Describes the command's options, which are parsed into `options`.
void add_knn_options(CLI::App& command, KnnOptions& options);

/// Checks the options against each other, and completes those of the tables. Throws Failure.
void validate(KnnOptions& options);

/// The weight of each attribute of a training table, by the columns that `--attribute-weights` names; empty if it names
/// none. Throws Failure for a column that is no attribute, and for a weight that is negative or no number.
std::vector<double> attribute_weights_of(const KnnOptions& options, const io::Schema& schema);

}  // namespace espalier::bench::cli
