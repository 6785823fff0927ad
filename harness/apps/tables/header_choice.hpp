#pragma once

#include <string>
#include <vector>

#include "harness/apps/tables/column_learner.hpp"
#include "harness/apps/tables/schema.hpp"

namespace espalier::bench::io {

/// Whether the first line of a table is a header, and why.
struct HeaderChoice {
    bool header = false;
    std::string reason;  ///< for people: "line 1 is a header: 'age' is no number, as the rest of its column is"
};

/// Collects what whole columns say about the line above them.
class HeaderEvidence {
public:
    HeaderEvidence(const std::vector<std::string>& first, const TableOptions& options);

    /// A column that has taken every other row; `kept` makes a copy of what it keeps of them.
    void add(std::size_t position, const ColumnLearner& column, const KeptCells& kept);

    /// Throws BadFile where the columns contradict each other.
    [[nodiscard]] HeaderChoice choose(const std::string& path, std::int64_t line, std::size_t rows) const;

private:
    const std::vector<std::string>& first_;
    const TableOptions& options_;
    MissingWords missing_;
    /// Positions: of a number in a column of numbers; of a text there; of a text that is in its column again; of one
    /// that is not, where every other text is.
    std::vector<std::size_t> numbers_, clashes_, recurring_, unheard_;
};

}  // namespace espalier::bench::io
