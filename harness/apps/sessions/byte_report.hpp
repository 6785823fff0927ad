#pragma once

#include <cstdint>
#include <string>

#include "espalier/histogram.hpp"

namespace espalier::bench::apps {

/// What the values are of: bytes of a file, which have names, or pixels of an image.
enum class Counted { bytes, pixels };

/// How often each value occurred.
struct ByteCounts {
    Histogram256 counts{};
    std::uint64_t bytes = 0;

    [[nodiscard]] int distinct() const;
    /// Shannon's entropy of a byte, 0 to 8 bits: what no order-0 compressor can go below.
    [[nodiscard]] double entropy() const;
    [[nodiscard]] double share(std::size_t value) const;
};

/// A row for each value that occurs, with a bar as long as its count where `bar_columns` is more than 0; then a line
/// with the totals.
std::string table_of(const ByteCounts& counts, int bar_columns, Counted what = Counted::bytes);

/// "value,count,share" and 256 rows.
std::string csv_of(const ByteCounts& counts);

}  // namespace espalier::bench::apps
