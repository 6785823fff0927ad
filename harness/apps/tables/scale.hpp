#pragma once

#include <string>
#include <vector>

#include "harness/apps/tables/table.hpp"

namespace espalier::bench::io {

/// Centres numeric attributes and divides them by their standard deviation, in double precision, as scikit-learn's
/// StandardScaler does: the population's deviation of the training rows, missing cells left out; a column that is
/// constant but for rounding is only centred. Nominal attributes stay as they are.
class StandardScale {
public:
    /// Learns from `train`, which came from `path`. Throws BadFile for a column too wide for double precision.
    StandardScale(const std::string& path, const Schema& schema, const Rows& train);

    /// Scales rows of any table of the same columns. Throws BadFile for a value that leaves double precision.
    void apply(const std::string& path, Rows& rows) const;

private:
    struct Column {
        std::size_t attribute;
        std::string name;
        Number mean, deviation;
    };
    std::vector<Column> columns_;
};

}  // namespace espalier::bench::io
