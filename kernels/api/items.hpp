#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "espalier/distance.hpp"
#include "kernels/api/checks.hpp"
#include "kernels/device/host_array.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier {

/// Transposes `count` items of `dims` numbers each, `stride` from one to the next, with all threads if there are many.
void to_attribute_major(const float* items, float* to, std::int64_t count, std::int64_t dims, std::int64_t stride);

/// Copies rows in host memory, with all threads if there is much to copy.
void copy_rows(void* to, const void* from, const device::RowCopy& rows);

/// Writes rows of `columns` elements of 4 bytes, `pitch` bytes apart, that lie column after column.
void turn_back(const void* from, void* to, std::int64_t rows, std::int64_t columns, std::size_t pitch);

/// A set of items in host memory in the kernels' layout: the caller's own array, or a transposed copy, or one without
/// gaps.
class AttributeMajor {
public:
    explicit AttributeMajor(const Items& items);
    AttributeMajor(const AttributeMajor&) = delete;
    AttributeMajor& operator=(const AttributeMajor&) = delete;

    [[nodiscard]] const float* values() const { return values_; }
    /// Empty if it is the caller's array.
    [[nodiscard]] device::HostArray<float> take_copy() && { return std::move(copy_); }

private:
    const float* values_;
    device::HostArray<float> copy_;
};

/// Some of the items, where they are.
inline Items part_of(Items items, std::int64_t first, std::int64_t count) {
    const bool by_item = items.layout == Layout::item_major;
    if (items.stride == 0) items.stride = by_item ? items.dims : items.count;
    if (items.values) items.values += by_item ? first * items.stride : first;
    items.count = count;
    return items;
}

/// How many items of a call a part of it takes that tells its progress: enough for the device to be busy, and about a
/// tenth of a second's work. `terms`: attributes that each item is compared by.
inline std::int64_t items_in_part(std::int64_t terms, bool is_cuda) {
    const std::int64_t work = std::int64_t{1} << (is_cuda ? 35 : 29), least = is_cuda ? 4096 : 64;
    return std::max(least, work / std::max<std::int64_t>(terms, 1));
}

inline std::int64_t value_count(const Items& items) { return items.count * items.dims; }

/// The rows that items lie in, from where they are to where they have no gaps.
device::RowCopy rows_of(const Items& items);

/// Says what is wrong with a set of another size or layout than the one planned for; its values are of no account.
std::optional<Error> other_items(const Items& items, const std::string& name, const Items& planned);

/// Says what is wrong with a value of `Missing`.
std::optional<Error> invalid_missing(Missing missing);

/// The conditions that two sets of items and the rule to compare them must fulfil, apart from their values.
std::optional<Error> invalid_comparison(const Items& queries, const Items& points, const DistanceRule& rule);

}  // namespace espalier
