#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace espalier::reference {

/// In double precision, which holds every number of every type of keys.
struct Neighbour {
    double value;
    std::int32_t index;
};

/// By value, then by index, NaN after everything.
bool comes_before(const Neighbour& a, const Neighbour& b);

/// The k smallest of one row by value, then by index, NaN after everything; entries beyond the row's end
/// are (`padding`, -1).
std::vector<Neighbour> smallest_k(const std::vector<double>& row, std::int64_t k,
                                  double padding = std::numeric_limits<double>::quiet_NaN());

/// The numbers that bit patterns of 16 bits stand for.
double number_of_binary16(std::uint16_t bits);
double number_of_bfloat16(std::uint16_t bits);

/// The nearest pattern of a number, of two equally near ones the even one; infinity's beyond the largest.
std::uint16_t binary16_of(double number);
std::uint16_t bfloat16_of(double number);

}  // namespace espalier::reference
