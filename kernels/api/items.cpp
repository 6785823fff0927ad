#include "kernels/api/items.hpp"

#include <algorithm>

namespace espalier {
namespace {

std::optional<Error> invalid_rule(const DistanceRule& rule, std::int64_t dims) {
    if (!is_enumerator(rule.metric, Metric::cosine))
        return invalid("metric is none of the enumerators of espalier::Metric");
    if (!is_enumerator(rule.missing, Missing::allowed))
        return invalid("missing is none of the enumerators of espalier::Missing");
    if (rule.metric != Metric::mixed_euclidean) return std::nullopt;
    if (static_cast<std::int64_t>(rule.types.size()) != dims)
        return invalid("mixed_euclidean needs the type of each of the " + std::to_string(dims) + " attributes, got " +
                       std::to_string(rule.types.size()));
    if (!std::ranges::all_of(rule.types, [](AttributeType t) { return is_enumerator(t, AttributeType::nominal); }))
        return invalid("types holds a value that is none of the enumerators of espalier::AttributeType");
    return std::nullopt;
}

}  // namespace

AttributeMajor::AttributeMajor(const Items& items) : values_(items.values) {
    const auto count = static_cast<std::size_t>(items.count), dims = static_cast<std::size_t>(items.dims);
    if (items.layout == Layout::attribute_major || count <= 1 || dims <= 1) return;  // nothing to move
    copy_ = std::make_unique_for_overwrite<float[]>(count * dims);  // the threads touch it first
    // Blocks of both sides stay in the first-level cache.
    constexpr std::size_t kBlock = 32, kWorthThreads = 1 << 16;
#pragma omp parallel for collapse(2) schedule(static) if (count * dims >= kWorthThreads)
    for (std::size_t i0 = 0; i0 < count; i0 += kBlock)
        for (std::size_t a0 = 0; a0 < dims; a0 += kBlock)
            for (std::size_t a = a0; a < std::min(a0 + kBlock, dims); ++a)
                for (std::size_t i = i0; i < std::min(i0 + kBlock, count); ++i)
                    copy_[a * count + i] = items.values[i * dims + a];
    values_ = copy_.get();
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

std::optional<Error> invalid_layout(const Items& items, std::string_view name, const Options& options) {
    if (items.layout == Layout::attribute_major || options.memory == Memory::host) return std::nullopt;
    return invalid(std::string(name) + " are item_major in device memory: only attribute_major can be read there");
}

}  // namespace espalier
