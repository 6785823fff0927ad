#include "kernels/api/exact_copies.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace espalier::exact {
namespace {

std::uint64_t bits_of(double value) {
    constexpr std::uint64_t kNaN = 0x7FF8'0000'0000'0000;
    return std::isnan(value) ? kNaN : std::bit_cast<std::uint64_t>(value + 0.0);  // -0 + 0 is 0
}

/// SplitMix64's last steps, cell by cell: rows that differ in one bit differ in half of the bits.
std::uint64_t hash_of(const double* row, std::int64_t dims) {
    std::uint64_t hash = 0x9E37'79B9'7F4A'7C15;
    for (std::int64_t a = 0; a < dims; ++a) {
        hash = (hash ^ bits_of(row[a])) * 0xBF58'476D'1CE4'E5B9;
        hash ^= hash >> 29;
    }
    return hash * 0x94D0'49BB'1331'11EB;
}

bool equal(const double* x, const double* y, std::int64_t dims) {
    for (std::int64_t a = 0; a < dims; ++a)
        if (bits_of(x[a]) != bits_of(y[a])) return false;
    return true;
}

/// For each row the first one that equals it.
std::vector<std::int32_t> first_equals(const Rows& rows) {
    std::vector<std::uint64_t> hashes(static_cast<std::size_t>(rows.count));
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < rows.count; ++i) hashes[static_cast<std::size_t>(i)] = hash_of(rows.of(i), rows.dims);
    std::vector<std::int32_t> order(hashes.size()), first(hashes.size());
    std::iota(order.begin(), order.end(), 0);
    std::iota(first.begin(), first.end(), 0);
    const auto hash = [&](std::int32_t row) { return hashes[static_cast<std::size_t>(row)]; };
    std::ranges::sort(order,
                      [&](std::int32_t a, std::int32_t b) { return hash(a) != hash(b) ? hash(a) < hash(b) : a < b; });
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (hash(order[i]) != hash(order[i - 1])) continue;
        // Rows of one hash that differ are as good as impossible: then some equal ones stay apart, which is no harm.
        const std::int32_t candidate = first[static_cast<std::size_t>(order[i - 1])];
        if (equal(rows.of(order[i]), rows.of(candidate), rows.dims))
            first[static_cast<std::size_t>(order[i])] = candidate;
    }
    return first;
}

}  // namespace

Copies::Copies(Rows& rows) : count_(rows.count) {
    const std::vector<std::int32_t> first = first_equals(rows);
    std::vector<std::int32_t> row_of(first.size());  // where a point's row goes
    std::int32_t kept = 0;
    for (std::size_t i = 0; i < first.size(); ++i)
        row_of[i] = first[i] == static_cast<std::int32_t>(i) ? kept++ : row_of[static_cast<std::size_t>(first[i])];
    if (kept == rows.count) return;
    firsts_.assign(static_cast<std::size_t>(kept) + 1, 0);
    for (const std::int32_t row : row_of) ++firsts_[static_cast<std::size_t>(row) + 1];
    std::partial_sum(firsts_.begin(), firsts_.end(), firsts_.begin());
    points_.resize(first.size());
    std::vector<std::int64_t> next(firsts_.begin(), firsts_.end() - 1);
    for (std::size_t i = 0; i < first.size(); ++i)
        points_[static_cast<std::size_t>(next[static_cast<std::size_t>(row_of[i])]++)] = static_cast<std::int32_t>(i);
    for (std::int64_t row = 0; row < kept; ++row)
        if (first_of(row) != row) std::copy_n(rows.of(first_of(row)), rows.dims, rows.values.data() + row * rows.dims);
    rows.count = kept;
    rows.values.resize(static_cast<std::size_t>(kept * rows.dims));
    rows.values.shrink_to_fit();
}

}  // namespace espalier::exact
