#include "kernels/api/exact_bytes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace espalier::exact {
namespace {

constexpr std::int64_t kMostDims = 65534, kMostSummed = 255;  // that 16 bits, with one more, and 8 bits count
/// Sixteen rows' bytes of one attribute in a register, which compilers do not make of loops by themselves.
using Bytes = std::uint8_t __attribute__((vector_size(16)));

constexpr std::size_t kMostValues = 255;  // one byte stands for what no point has

}  // namespace

bool ByteRows::suits(const Table& table) {
    const Rows& points = table.points();
    if (table.rule().weighted || points.missing || points.dims == 0 || points.dims > kMostDims) return false;
    for (std::int64_t a = 0; a < points.dims; ++a)
        if (!table.is_nominal(a) || table.values_of(a).size() > kMostValues) return false;
    return true;
}

ByteRows::ByteRows(const Table& table) {
    if (!suits(table)) return;
    const Rows& points = table.points();
    count_ = points.count;
    dims_ = points.dims;
    panels_.resize(static_cast<std::size_t>((count_ + kPanel - 1) / kPanel * kPanel * dims_));
    for (std::int64_t i = 0; i < count_; ++i)
        for (std::int64_t a = 0; a < dims_; ++a)
            panels_[static_cast<std::size_t>((i / kPanel * dims_ + a) * kPanel + i % kPanel)] =
                static_cast<std::uint8_t>(table.code_of(a, points.of(i)[a]));
}

void ByteRows::count_differences(std::int64_t panel, const std::uint8_t* item, std::uint16_t* counts) const {
    const std::uint8_t* values = panels_.data() + panel * dims_ * kPanel;
    std::fill_n(counts, kPanel, std::uint16_t{0});
    for (std::int64_t first = 0; first < dims_; first += kMostSummed) {
        std::array<Bytes, kPanel / sizeof(Bytes)> sums{};
        for (std::int64_t a = first; a < std::min(dims_, first + kMostSummed); ++a)
            for (Bytes& sum : sums) {
                Bytes some;
                std::memcpy(&some, values, sizeof some);
                sum -= static_cast<Bytes>(some != item[a]);  // what differs is -1
                values += sizeof some;
            }
        std::array<std::uint8_t, kPanel> summed;
        std::memcpy(summed.data(), sums.data(), sizeof summed);
        for (std::size_t i = 0; i < kPanel; ++i) counts[i] = static_cast<std::uint16_t>(counts[i] + summed[i]);
    }
}

void ByteRows::nearest(const Table& table, const double* item, std::size_t most, std::int64_t limit,
                       std::vector<std::int32_t>& rows) const {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(dims_));
    for (std::int64_t a = 0; a < dims_; ++a)
        bytes[static_cast<std::size_t>(a)] = static_cast<std::uint8_t>(table.code_of(a, item[a]));
    std::vector<std::pair<std::uint16_t, std::int32_t>> found;  // a heap with the farthest on top
    std::array<std::uint16_t, kPanel> counts;
    auto below = static_cast<std::uint16_t>(std::clamp<std::int64_t>(limit, 0, dims_ + 1));
    for (std::int64_t first = 0; first < count_ && most > 0; first += kPanel) {
        count_differences(first / kPanel, bytes.data(), counts.data());
        const std::int64_t end = std::min(kPanel, count_ - first);
        bool any = false;
        for (const std::uint16_t count : counts) any |= count < below;
        for (std::int64_t i = 0; i < end && any; ++i) {
            const std::uint16_t count = counts[static_cast<std::size_t>(i)];
            if (count >= below) continue;  // of equally many the first is nearer
            if (found.size() == most) {
                std::ranges::pop_heap(found);
                found.pop_back();
            }
            found.emplace_back(count, static_cast<std::int32_t>(first + i));
            std::ranges::push_heap(found);
            if (found.size() == most) below = found.front().first;
        }
    }
    rows.clear();
    for (const auto& [count, row] : found) rows.push_back(row);
}

}  // namespace espalier::exact
