#pragma once

#include <cstdint>
#include <vector>

namespace espalier::reference {

struct Neighbour {
    float value;
    std::int32_t index;
};

/// By value, then by index, NaN after everything.
bool comes_before(const Neighbour& a, const Neighbour& b);

/// The k smallest of one row by value, then by index, NaN after everything; entries beyond the row's end
/// are (NaN, -1).
std::vector<Neighbour> smallest_k(const std::vector<float>& row, std::int64_t k);

}  // namespace espalier::reference
