#include "kernels/api/knn_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/api/checks.hpp"
#include "kernels/api/new_file.hpp"
#include "kernels/dispatch/refusal.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/crc64.hpp"
#include "kernels/json/regular_file.hpp"

namespace espalier::knn_file {
namespace {

constexpr std::string_view kMagic = "ESPKNN\r\n";
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kHeaderBytes = 96, kChecksumBytes = 8;

/// Numbers in the order of the header, as many as come before its checksum.
struct Header {
    std::uint32_t version = kVersion, kind = 0;
    std::uint64_t file_bytes = 0;
    std::int64_t points = 0, dims = 0, k = 0;
    std::uint32_t metric = 0, missing = 0, vote = 0, has_types = 0;
    std::array<std::uint64_t, 2> reserved{};

    template <class Each>
    void for_each(Each each) {
        each(version), each(kind), each(file_bytes), each(points), each(dims), each(k);
        each(metric), each(missing), each(vote), each(has_types), each(reserved[0]), each(reserved[1]);
    }
};

template <class T>
void put(std::byte*& to, T value) {
    for (std::size_t b = 0; b < sizeof(T); ++b)
        *to++ = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> 8 * b);
}
template <class T>
void get(const std::byte*& from, T& value) {
    std::uint64_t bits = 0;
    for (std::size_t b = 0; b < sizeof(T); ++b) bits |= std::to_integer<std::uint64_t>(*from++) << 8 * b;
    value = static_cast<T>(bits);
}

using HeaderBytes = std::array<std::byte, kHeaderBytes>;

std::uint64_t checksum_of(const HeaderBytes& bytes) {
    Crc64 crc;
    crc.add(bytes.data(), kHeaderBytes - kChecksumBytes);
    return crc.value();
}

HeaderBytes bytes_of(Header header) {
    HeaderBytes bytes{};
    std::byte* at = std::transform(kMagic.begin(), kMagic.end(), bytes.data(), [](char c) { return std::byte(c); });
    header.for_each([&](auto value) { put(at, value); });
    at = bytes.data() + kHeaderBytes - kChecksumBytes;
    put(at, checksum_of(bytes));
    return bytes;
}

std::uint64_t labels_in(const Header& header) {
    return header.kind == static_cast<std::uint32_t>(Kind::neighbours) ? 0 : static_cast<std::uint64_t>(header.points);
}

/// Of valid sizes.
std::uint64_t file_bytes_of(const Header& header) {
    const auto points = static_cast<std::uint64_t>(header.points), dims = static_cast<std::uint64_t>(header.dims);
    return kHeaderBytes + (header.has_types ? dims : 0) + 4 * points * dims + 4 * labels_in(header) + kChecksumBytes;
}

/// In the file numbers of 4 bytes are little-endian.
template <class T>
void swap_on_big_endian(std::span<T> values) {
    static_assert(sizeof(T) == 4);
    if constexpr (std::endian::native == std::endian::big)
        for (T& value : values) {
            auto bytes = std::bit_cast<std::array<std::byte, 4>>(value);
            std::ranges::reverse(bytes);
            value = std::bit_cast<T>(bytes);
        }
}

class Writer {
public:
    explicit Writer(const std::string& path) : file_(path) {}

    void add(const void* data, std::size_t bytes) {
        crc_.add(static_cast<const std::byte*>(data), bytes);
        file_.write(data, bytes);
    }
    template <class T>
    void add_numbers(const std::vector<T>& values) {
        if constexpr (std::endian::native == std::endian::big) {
            std::vector<T> swapped = values;
            swap_on_big_endian(std::span(swapped));
            add(swapped.data(), swapped.size() * sizeof(T));
        } else {
            add(values.data(), values.size() * sizeof(T));
        }
    }
    void finish() {
        std::array<std::byte, kChecksumBytes> checksum{};
        std::byte* at = checksum.data();
        put(at, crc_.value());
        file_.write(checksum.data(), checksum.size());
        file_.finish();
    }

private:
    NewFile file_;
    Crc64 crc_;
};

[[noreturn]] void damaged(const std::string& what) {
    throw BadData("it is damaged: " + what + ": save the model again, or take another copy of the file");
}

/// Reads a file to its end; every byte counts for the checksum.
class Reader {
public:
    explicit Reader(const std::string& path) : file_(path) {}

    [[nodiscard]] std::uint64_t bytes() const { return file_.bytes(); }

    void get(void* to, std::size_t bytes) {
        read(to, bytes);
        crc_.add(static_cast<const std::byte*>(to), bytes);
    }
    template <class T>
    void get_numbers(std::vector<T>& values, std::uint64_t count) {
        values.resize(static_cast<std::size_t>(count));
        get(values.data(), values.size() * sizeof(T));
        swap_on_big_endian(std::span(values));
    }
    void check() {
        std::array<std::byte, kChecksumBytes> checksum{};
        read(checksum.data(), checksum.size());
        const std::byte* at = checksum.data();
        std::uint64_t expected = 0;
        knn_file::get(at, expected);
        if (expected != crc_.value()) damaged("its checksum is not that of its bytes");
        std::byte more{};
        if (file_.read(reinterpret_cast<char*>(&more), 1) != 0) damaged("it is longer than it says");
    }

private:
    void read(void* to, std::size_t bytes) {
        auto* at = static_cast<char*>(to);
        while (bytes > 0) {
            const std::size_t got = file_.read(at, bytes);
            if (got == 0) damaged("it ends early");
            at += got;
            bytes -= got;
        }
    }

    RegularFile file_;
    Crc64 crc_;
};

const char* name_of(std::uint32_t kind) {
    constexpr std::array kNames{"a KnnClassifier", "a KnnRegressor", "a NearestNeighbours"};
    return kind < kNames.size() ? kNames[kind] : "something else";
}

/// What no fit would have accepted: a checksum that is right makes no model of it.
void check_values(const Header& header, Kind kind) {
    if (header.kind != static_cast<std::uint32_t>(kind))
        throw BadData(std::string("it holds ") + name_of(header.kind) + ", not " +
                      name_of(static_cast<std::uint32_t>(kind)) + ": load it as what it is");
    const bool mixed = header.metric == static_cast<std::uint32_t>(Metric::mixed_euclidean);
    if (header.metric > static_cast<std::uint32_t>(Metric::cosine) ||
        header.missing > static_cast<std::uint32_t>(Missing::allowed) ||
        header.vote > static_cast<std::uint32_t>(Vote::distance_weighted) || header.has_types != (mixed ? 1U : 0U) ||
        header.reserved[0] != 0 || header.reserved[1] != 0)
        damaged("its rule is none that there is");
    if (refused_k(header.k) || refused_count("points", header.points) ||
        invalid_sizes({{"points", header.points}, {"dims", header.dims}}))
        damaged("its sizes are out of range");
}

Header header_of(Reader& reader, Kind kind) {
    if (reader.bytes() < kHeaderBytes + kChecksumBytes)
        throw BadData("it is no model of espalier: it has " + std::to_string(reader.bytes()) +
                      " bytes, fewer than any: check the path");
    HeaderBytes bytes{};
    reader.get(bytes.data(), bytes.size());
    if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
        throw BadData("it is no model of espalier: check the path");
    Header header;
    const std::byte* at = bytes.data() + kMagic.size();
    header.for_each([&](auto& value) { get(at, value); });
    std::uint64_t checksum = 0;
    at = bytes.data() + kHeaderBytes - kChecksumBytes;
    get(at, checksum);
    if (checksum != checksum_of(bytes)) damaged("the checksum of its header is not that of its bytes");
    if (header.version != kVersion)
        throw BadData("it has version " + std::to_string(header.version) + " of the format, this library reads " +
                      std::to_string(kVersion) + ": load it with a newer library, or save the model with this one");
    check_values(header, kind);
    if (header.file_bytes != file_bytes_of(header) || header.file_bytes != reader.bytes())
        damaged("it has " + std::to_string(reader.bytes()) + " bytes, and should have " +
                std::to_string(file_bytes_of(header)));
    return header;
}

void check_labels(const Contents& contents) {
    for (const AttributeType type : contents.types)
        if (!is_enumerator(type, AttributeType::nominal)) damaged("an attribute has a type that there is not");
    constexpr auto kReserved = std::numeric_limits<std::int32_t>::max();
    for (const std::int32_t c : contents.classes)
        if (c < 0 || c == kReserved) damaged("a class is out of range");
}

Contents read_all(const std::string& path, Kind kind) {
    Reader reader(path);
    const Header header = header_of(reader, kind);
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
    if (header.has_types) {
        contents.types.resize(static_cast<std::size_t>(header.dims));
        reader.get(contents.types.data(), contents.types.size());
    }
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
                  .has_types = contents.metric == Metric::mixed_euclidean ? 1U : 0U};
    header.file_bytes = file_bytes_of(header);
    Writer writer(path);
    const HeaderBytes bytes = bytes_of(header);
    writer.add(bytes.data(), bytes.size());
    if (header.has_types) writer.add(contents.types.data(), contents.types.size());
    writer.add_numbers(contents.values);
    writer.add_numbers(contents.classes);
    writer.add_numbers(contents.targets);
    writer.finish();
}

Contents read(const std::string& path, Kind kind) {
    if (path.empty() || path.find('\0') != std::string::npos)
        throw BadData("the path of a model is empty or has a NUL in it: give the name of its file");
    try {
        return read_all(path, kind);
    } catch (const BadData& error) {
        throw BadData("'" + path + "': " + error.what());
    }
}

}  // namespace espalier::knn_file
