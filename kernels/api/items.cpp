#include "kernels/api/items.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace espalier {
namespace {

std::optional<Error> invalid_rule(const DistanceRule& rule, std::int64_t dims) {
    if (!is_enumerator(rule.metric, Metric::cosine))
        return invalid("metric is none of the enumerators of espalier::Metric");
    if (auto error = invalid_missing(rule.missing)) return error;
    if (rule.metric != Metric::mixed_euclidean) return std::nullopt;
    if (static_cast<std::int64_t>(rule.types.size()) != dims)
        return invalid("mixed_euclidean needs the type of each of the " + std::to_string(dims) + " attributes, got " +
                       std::to_string(rule.types.size()));
    if (!std::ranges::all_of(rule.types, [](AttributeType t) { return is_enumerator(t, AttributeType::nominal); }))
        return invalid("types holds a value that is none of the enumerators of espalier::AttributeType");
    return std::nullopt;
}

/// Elements from one row to the next; with a single row there is none.
std::int64_t stride_of(const Items& items) {
    const bool by_item = items.layout == Layout::item_major;
    if ((by_item ? items.count : items.dims) <= 1) return 0;
    return items.stride != 0 ? items.stride : by_item ? items.dims : items.count;
}

std::optional<Error> other_stride(const Items& items, const std::string& name, const Items& planned) {
    return other_sizes({{name + ".stride", stride_of(items), stride_of(planned)}});
}

std::optional<Error> invalid_stride_of(const Items& items, std::string_view name) {
    const bool by_item = items.layout == Layout::item_major;
    return invalid_stride({.name = name,
                           .of = by_item ? "an item" : "an attribute",
                           .given = items.stride,
                           .rows = by_item ? items.count : items.dims,
                           .row = by_item ? items.dims : items.count});
}

/// Calls `work` with each number below `count`, on all threads where that is worth it. Else without OpenMP, whose team
/// of one thread takes longer to make than a small copy.
template <class Work>
void for_each(std::int64_t count, bool worth_threads, Work work) {
    if (!worth_threads) {
        for (std::int64_t i = 0; i < count; ++i) work(i);
        return;
    }
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) work(i);
}

constexpr std::int64_t blocks_of(std::int64_t count, std::int64_t block) { return (count + block - 1) / block; }

}  // namespace

void to_attribute_major(const float* items, float* to, std::int64_t count, std::int64_t dims, std::int64_t stride) {
    // Blocks of both sides stay in the first-level cache.
    constexpr std::int64_t kBlock = 32, kWorthThreads = 1 << 16;
    const std::int64_t of_attributes = blocks_of(dims, kBlock);
    for_each(blocks_of(count, kBlock) * of_attributes, count * dims >= kWorthThreads, [=](std::int64_t block) {
        const std::int64_t i0 = block / of_attributes * kBlock, a0 = block % of_attributes * kBlock;
        for (std::int64_t a = a0; a < std::min(a0 + kBlock, dims); ++a)
            for (std::int64_t i = i0; i < std::min(i0 + kBlock, count); ++i) to[a * count + i] = items[i * stride + a];
    });
}

void copy_rows(void* to, const void* from, const device::RowCopy& rows) {
    constexpr std::size_t kWorthThreads = std::size_t{1} << 20;  // bytes
    const auto count = static_cast<std::int64_t>(rows.rows);
    for_each(count, count > 1 && rows.rows * rows.bytes >= kWorthThreads, [=](std::int64_t r) {
        std::memcpy(static_cast<std::byte*>(to) + static_cast<std::size_t>(r) * rows.to_pitch,
                    static_cast<const std::byte*>(from) + static_cast<std::size_t>(r) * rows.from_pitch, rows.bytes);
    });
}

void turn_back(const void* from, void* to, std::int64_t rows, std::int64_t columns, std::size_t pitch) {
    constexpr std::int64_t kBlock = 32, kWorthThreads = 1 << 16;
    constexpr std::size_t kElement = 4;
    for_each(blocks_of(rows, kBlock), rows * columns >= kWorthThreads, [=](std::int64_t block) {
        const std::int64_t r0 = block * kBlock;
        for (std::int64_t c = 0; c < columns; ++c)
            for (std::int64_t r = r0; r < std::min(r0 + kBlock, rows); ++r)
                std::memcpy(static_cast<std::byte*>(to) + static_cast<std::size_t>(r) * pitch +
                                static_cast<std::size_t>(c) * kElement,
                            static_cast<const std::byte*>(from) + static_cast<std::size_t>(c * rows + r) * kElement,
                            kElement);
    });
}

device::RowCopy rows_of(const Items& items) {
    const bool by_item = items.layout == Layout::item_major;
    const std::int64_t row = by_item ? items.dims : items.count, rows = by_item ? items.count : items.dims;
    const auto bytes = [](std::int64_t floats) { return static_cast<std::size_t>(floats) * sizeof(float); };
    const std::int64_t stride = items.stride == 0 || rows <= 1 ? row : items.stride;
    return {static_cast<std::size_t>(rows), bytes(row), bytes(row), bytes(stride)};
}

AttributeMajor::AttributeMajor(const Items& items) : values_(items.values) {
    const device::RowCopy rows = rows_of(items);
    const bool turns = items.layout == Layout::item_major && items.count > 1 && items.dims > 1;
    if (value_count(items) == 0 || (!turns && rows.from_pitch == rows.bytes)) return;  // nothing to move
    // The threads touch it first.
    copy_.resize(static_cast<std::size_t>(value_count(items)));
    values_ = copy_.data();
    if (turns)
        to_attribute_major(items.values, copy_.data(), items.count, items.dims,
                           static_cast<std::int64_t>(rows.from_pitch / sizeof(float)));
    else
        copy_rows(copy_.data(), items.values, rows);
}

std::optional<Error> other_items(const Items& items, const std::string& name, const Items& planned) {
    if (auto error =
            other_sizes({{name + ".count", items.count, planned.count}, {name + ".dims", items.dims, planned.dims}}))
        return error;
    if (items.layout == planned.layout) return other_stride(items, name, planned);
    return invalid(name + ".layout is not the one that the plan is for: make another plan for other layouts");
}

std::optional<Error> invalid_missing(Missing missing) {
    if (is_enumerator(missing, Missing::allowed)) return std::nullopt;
    return invalid("missing is none of the enumerators of espalier::Missing");
}

std::optional<Error> invalid_comparison(const Items& queries, const Items& points, const DistanceRule& rule) {
    if (queries.dims != points.dims)
        return invalid("the queries have " + std::to_string(queries.dims) + " attributes, the points " +
                       std::to_string(points.dims));
    if (auto error =
            invalid_sizes({{"queries.count", queries.count}, {"points.count", points.count}, {"dims", queries.dims}}))
        return error;
    for (const Items* items : {&queries, &points})
        if (!is_enumerator(items->layout, Layout::item_major))
            return invalid("layout is none of the enumerators of espalier::Layout");
    if (auto error = invalid_stride_of(queries, "queries.stride")) return error;
    if (auto error = invalid_stride_of(points, "points.stride")) return error;
    return invalid_rule(rule, queries.dims);
}

}  // namespace espalier
