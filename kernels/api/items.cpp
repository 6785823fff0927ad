#include "kernels/api/items.hpp"

#include <algorithm>

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

}  // namespace

void to_attribute_major(const float* items, float* to, std::int64_t count, std::int64_t dims) {
    // Blocks of both sides stay in the first-level cache.
    constexpr std::int64_t kBlock = 32, kWorthThreads = 1 << 16;
#pragma omp parallel for collapse(2) schedule(static) if (count * dims >= kWorthThreads)
    for (std::int64_t i0 = 0; i0 < count; i0 += kBlock)
        for (std::int64_t a0 = 0; a0 < dims; a0 += kBlock)
            for (std::int64_t a = a0; a < std::min(a0 + kBlock, dims); ++a)
                for (std::int64_t i = i0; i < std::min(i0 + kBlock, count); ++i)
                    to[a * count + i] = items[i * dims + a];
}

AttributeMajor::AttributeMajor(const Items& items) : values_(items.values) {
    if (items.layout == Layout::attribute_major || items.count <= 1 || items.dims <= 1) return;  // nothing to move
    // The threads touch it first.
    copy_ = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(value_count(items)));
    to_attribute_major(items.values, copy_.get(), items.count, items.dims);
    values_ = copy_.get();
}

std::optional<Error> other_items(const Items& items, const std::string& name, const Items& planned) {
    if (auto error =
            other_sizes({{name + ".count", items.count, planned.count}, {name + ".dims", items.dims, planned.dims}}))
        return error;
    if (items.layout == planned.layout) return std::nullopt;
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
    return invalid_rule(rule, queries.dims);
}

}  // namespace espalier
