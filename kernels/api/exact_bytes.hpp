#pragma once

#include <cstdint>
#include <vector>

#include "kernels/api/exact_table.hpp"

namespace espalier::exact {

/// The points of a table of nominal attributes as bytes: how many attributes of two items differ is all there is to
/// their distance, and a processor compares sixteen bytes and more at once, which the pipelines' floats take four to
/// eight times as long for. Only where nothing is missing and nothing weighted.
class ByteRows {
public:
    ByteRows() = default;
    /// None of a table that bytes do not tell everything of.
    explicit ByteRows(const Table& table);

    [[nodiscard]] bool any() const { return count_ > 0; }

    /// Of the rows that differ from an item without missing values in fewer than `limit` attributes, the `most` that
    /// differ in the fewest, of equal ones the first: in any order.
    void nearest(const Table& table, const double* item, std::size_t most, std::int64_t limit,
                 std::vector<std::int32_t>& rows) const;

private:
    static constexpr std::int64_t kPanel = 64;  ///< rows whose bytes of one attribute lie side by side

    [[nodiscard]] static bool suits(const Table& table);
    void count_differences(std::int64_t panel, const std::uint8_t* item, std::uint16_t* counts) const;

    std::int64_t count_ = 0, dims_ = 0;
    std::vector<std::uint8_t> panels_;
};

}  // namespace espalier::exact
