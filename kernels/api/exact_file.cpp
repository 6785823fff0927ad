#include "kernels/api/exact_file.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "kernels/api/checks.hpp"
#include "kernels/api/knn_model.hpp"
#include "kernels/dispatch/refusal.hpp"

namespace espalier::exact_file {
namespace {

using exact::Comparison;
using model_file::damaged;
using model_file::Header;
using model_file::Kind;

// Numbers of the format.
static_assert(static_cast<int>(Comparison::euclidean) == 0 && static_cast<int>(Comparison::mixed_euclidean) == 1 &&
              static_cast<int>(Comparison::manhattan) == 2 && static_cast<int>(Comparison::chebyshev) == 3 &&
              static_cast<int>(Comparison::cosine) == 4 && static_cast<int>(Comparison::minkowski) == 5 &&
              static_cast<int>(Comparison::haversine) == 6 && static_cast<int>(Comparison::hamming) == 7);
constexpr std::uint32_t kHasTypes = 1, kDegrees = 2, kMissingCells = 4;

bool is(const Header& header, Comparison comparison) { return header.metric == static_cast<std::uint32_t>(comparison); }

bool leaves_out(const Header& header) { return header.given_dims != header.dims; }

std::uint64_t label_bytes(const Header& header) {
    if (header.kind == static_cast<std::uint32_t>(Kind::exact_classifier)) return sizeof(std::int32_t);
    return header.kind == static_cast<std::uint32_t>(Kind::exact_regressor) ? sizeof(double) : 0;
}

/// Of valid sizes.
std::uint64_t file_bytes_of(const Header& header) {
    const auto points = static_cast<std::uint64_t>(header.points), dims = static_cast<std::uint64_t>(header.dims);
    const std::uint64_t of_attribute =
        sizeof(double) + ((header.flags & kHasTypes) != 0 ? 1 : 0) + (leaves_out(header) ? sizeof(std::int32_t) : 0);
    return model_file::kHeaderBytes + dims * of_attribute + sizeof(double) * points * dims +
           points * label_bytes(header) + model_file::kChecksumBytes;
}

/// Refuses contents that no fit would have accepted: a checksum that is right makes no model of them.
void check_header(const Header& header) {
    const auto p = std::bit_cast<double>(header.p_bits);
    const bool is_p = is(header, Comparison::minkowski) ? p >= 1 && std::isfinite(p) : p == 2;
    const std::uint32_t allowed = (is(header, Comparison::mixed_euclidean) ? kHasTypes : 0U) |
                                  (is(header, Comparison::haversine) ? kDegrees : 0U) | kMissingCells;
    const bool has_types = (header.flags & kHasTypes) != 0;
    if (header.metric > static_cast<std::uint32_t>(Comparison::hamming) ||
        header.missing > static_cast<std::uint32_t>(Missing::allowed) ||
        header.vote > static_cast<std::uint32_t>(Vote::distance_weighted) || (header.flags & ~allowed) != 0 ||
        has_types != is(header, Comparison::mixed_euclidean) || !is_p)
        damaged("its rule is none that there is");
    if (header.k < 1 || refused_count("points", header.points) || header.given_dims < header.dims ||
        invalid_sizes({{"points", header.points}, {"dims", header.dims}}) ||
        invalid_sizes({{"points", header.points}, {"dims", header.given_dims}}) ||
        (is(header, Comparison::haversine) && (header.dims != 2 || leaves_out(header))))
        damaged("its sizes are out of range");
}

void check_rule(const exact::RowRule& rule) {
    for (const AttributeType type : rule.types)
        if (!is_enumerator(type, AttributeType::nominal)) damaged("an attribute has a type that there is not");
    std::int64_t next = 0;
    for (const std::int32_t attribute : rule.kept) {
        if (attribute < next || attribute >= rule.given_dims) damaged("an attribute has a number that there is not");
        next = std::int64_t{attribute} + 1;
    }
    for (const double weight : rule.weights)
        if (!(weight > 0) || std::isinf(weight)) damaged("a weight is out of range");
    if (rule.comparison == Comparison::haversine && rule.weighted) damaged("places have weights");
}

void check_rows(const Contents& contents) {
    const exact::Rows& rows = contents.rows;
    const bool any = std::ranges::any_of(rows.values, [](double value) { return std::isnan(value); });
    // Of an infinite cell at unit length there is a NaN, too.
    const bool may_differ = contents.rule.comparison == Comparison::cosine && any;
    if (any != rows.missing && !may_differ) damaged("its cells are missing where none are, or the other way round");
    exact::RowRule radians = contents.rule;
    radians.degrees = false;
    if (exact::invalid_places(radians, {rows.values.data(), rows.count, rows.dims}, "points"))
        damaged("a place has a latitude that there is not");
    if (invalid_classes(contents.task.classes)) damaged("a class is out of range");
}

exact::RowRule rule_of(const Header& header) {
    return {.comparison = static_cast<Comparison>(header.metric),
            .p = std::bit_cast<double>(header.p_bits),
            .degrees = (header.flags & kDegrees) != 0,
            .given_dims = header.given_dims};
}

Contents read_all(const std::string& path, Kind kind) {
    model_file::Reader reader(path);
    const Header header = reader.header(kind);
    check_header(header);
    reader.check_bytes(header, file_bytes_of(header));
    Contents contents{
        .task = {.kind = kind,
                 .k = header.k,
                 .vote = static_cast<Vote>(header.vote),
                 .missing = static_cast<Missing>(header.missing)},
        .rule = rule_of(header),
        .rows = {
            .values = {}, .count = header.points, .dims = header.dims, .missing = (header.flags & kMissingCells) != 0}};
    const auto points = static_cast<std::uint64_t>(header.points), dims = static_cast<std::uint64_t>(header.dims);
    exact::RowRule& rule = contents.rule;
    if ((header.flags & kHasTypes) != 0) reader.get_numbers(rule.types, dims);
    if (leaves_out(header)) reader.get_numbers(rule.kept, dims);
    reader.get_numbers(rule.weights, dims);
    rule.weighted = std::ranges::any_of(rule.weights, [](double weight) { return weight != 1; });
    reader.get_numbers(contents.rows.values, points * dims);
    if (kind == Kind::exact_classifier) reader.get_numbers(contents.task.classes, points);
    if (kind == Kind::exact_regressor) reader.get_numbers(contents.task.targets, points);
    reader.check();
    check_rule(rule);
    check_rows(contents);
    return contents;
}

}  // namespace

void write(const std::string& path, const ExactTask& task, const exact::RowRule& rule, const exact::Rows& rows) {
    const bool mixed = rule.comparison == Comparison::mixed_euclidean;
    const bool degrees = rule.comparison == Comparison::haversine && rule.degrees;
    const double p = rule.comparison == Comparison::minkowski ? rule.p : 2;
    Header header{.kind = static_cast<std::uint32_t>(task.kind),
                  .points = rows.count,
                  .dims = rows.dims,
                  .k = task.k,
                  .metric = static_cast<std::uint32_t>(rule.comparison),
                  .missing = static_cast<std::uint32_t>(task.missing),
                  .vote = static_cast<std::uint32_t>(task.vote),
                  .flags = (mixed ? kHasTypes : 0U) | (degrees ? kDegrees : 0U) | (rows.missing ? kMissingCells : 0U),
                  .p_bits = std::bit_cast<std::uint64_t>(p),
                  .given_dims = rule.given_dims};
    header.file_bytes = file_bytes_of(header);
    model_file::Writer writer(path, header);
    writer.add_numbers<AttributeType>(rule.types);
    if (leaves_out(header)) writer.add_numbers<std::int32_t>(rule.kept);
    writer.add_numbers<double>(rule.weights);
    writer.add_numbers<double>(rows.values);
    writer.add_numbers<std::int32_t>(task.classes);
    writer.add_numbers<double>(task.targets);
    writer.finish();
}

Contents read(const std::string& path, Kind kind) {
    return model_file::naming(path, [&] { return read_all(path, kind); });
}

}  // namespace espalier::exact_file
