#include "kernels/api/knn_file.hpp"

#include <limits>
#include <span>

#include "kernels/api/checks.hpp"
#include "kernels/dispatch/refusal.hpp"

namespace espalier::knn_file {
namespace {

using model_file::damaged;
using model_file::Header;

constexpr std::uint32_t kHasTypes = 1;

std::uint64_t labels_in(const Header& header) {
    return header.kind == static_cast<std::uint32_t>(Kind::neighbours) ? 0 : static_cast<std::uint64_t>(header.points);
}

/// Of valid sizes.
std::uint64_t file_bytes_of(const Header& header) {
    const auto points = static_cast<std::uint64_t>(header.points), dims = static_cast<std::uint64_t>(header.dims);
    return model_file::kHeaderBytes + (header.flags == kHasTypes ? dims : 0) + 4 * points * dims +
           4 * labels_in(header) + model_file::kChecksumBytes;
}

/// Refuses contents that no fit would have accepted: a checksum that is right makes no model of them.
void check_values(const Header& header) {
    const bool mixed = header.metric == static_cast<std::uint32_t>(Metric::mixed_euclidean);
    if (header.metric > static_cast<std::uint32_t>(Metric::cosine) ||
        header.missing > static_cast<std::uint32_t>(Missing::allowed) ||
        header.vote > static_cast<std::uint32_t>(Vote::distance_weighted) || header.flags != (mixed ? kHasTypes : 0U) ||
        header.p_bits != 0 || header.given_dims != 0)
        damaged("its rule is none that there is");
    if (refused_k(header.k) || refused_count("points", header.points) ||
        invalid_sizes({{"points", header.points}, {"dims", header.dims}}))
        damaged("its sizes are out of range");
}

void check_labels(const Contents& contents) {
    for (const AttributeType type : contents.types)
        if (!is_enumerator(type, AttributeType::nominal)) damaged("an attribute has a type that there is not");
    constexpr auto kReserved = std::numeric_limits<std::int32_t>::max();
    for (const std::int32_t c : contents.classes)
        if (c < 0 || c == kReserved) damaged("a class is out of range");
}

Contents read_all(const std::string& path, Kind kind) {
    model_file::Reader reader(path);
    const Header header = reader.header(kind);
    check_values(header);
    reader.check_bytes(header, file_bytes_of(header));
    Contents contents{.kind = kind,
                      .points = header.points,
                      .dims = header.dims,
                      .k = header.k,
                      .metric = static_cast<Metric>(header.metric),
                      .missing = static_cast<Missing>(header.missing),
                      .vote = static_cast<Vote>(header.vote),
                      .types = {},
                      .values = {},
                      .classes = {},
                      .targets = {}};
    if (header.flags == kHasTypes) reader.get_numbers(contents.types, static_cast<std::uint64_t>(header.dims));
    reader.get_numbers(contents.values, static_cast<std::uint64_t>(header.points * header.dims));
    if (kind == Kind::classifier) reader.get_numbers(contents.classes, labels_in(header));
    if (kind == Kind::regressor) reader.get_numbers(contents.targets, labels_in(header));
    reader.check();
    check_labels(contents);
    return contents;
}

}  // namespace

void write(const std::string& path, const Contents& contents) {
    Header header{.kind = static_cast<std::uint32_t>(contents.kind),
                  .points = contents.points,
                  .dims = contents.dims,
                  .k = contents.k,
                  .metric = static_cast<std::uint32_t>(contents.metric),
                  .missing = static_cast<std::uint32_t>(contents.missing),
                  .vote = static_cast<std::uint32_t>(contents.vote),
                  .flags = contents.metric == Metric::mixed_euclidean ? kHasTypes : 0U};
    header.file_bytes = file_bytes_of(header);
    model_file::Writer writer(path, header);
    if (header.flags == kHasTypes) writer.add_numbers<AttributeType>(contents.types);
    writer.add_numbers<float>(contents.values);
    writer.add_numbers<std::int32_t>(contents.classes);
    writer.add_numbers<float>(contents.targets);
    writer.finish();
}

Contents read(const std::string& path, Kind kind) {
    return model_file::naming(path, [&] { return read_all(path, kind); });
}

}  // namespace espalier::knn_file
