#include "kernels/api/model_file.hpp"

#include <cstring>
#include <string_view>

namespace espalier::model_file {
namespace {

constexpr std::string_view kMagic = "ESPKNN\r\n";
constexpr std::uint32_t kVersion = 1;

template <class T>
void put(std::byte*& to, T value) {
    for (std::size_t b = 0; b < sizeof(T); ++b)
        *to++ = static_cast<std::byte>(static_cast<std::uint64_t>(value) >> 8 * b);
}
template <class T>
void take(const std::byte*& from, T& value) {
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

const char* name_of(std::uint32_t kind) {
    constexpr std::array kNames{"a KnnClassifier",       "a KnnRegressor",       "a NearestNeighbours",
                                "an ExactKnnClassifier", "an ExactKnnRegressor", "an ExactNearestNeighbours"};
    return kind < kNames.size() ? kNames[kind] : "something else";
}

}  // namespace

void damaged(const std::string& what) {
    throw BadData("it is damaged: " + what + ": save the model again, or take another copy of the file");
}

void check_path(const std::string& path) {
    if (path.empty() || path.find('\0') != std::string::npos)
        throw BadData("the path of a model is empty or has a NUL in it: give the name of its file");
}

Writer::Writer(const std::string& path, const Header& header) : file_(path) {
    const HeaderBytes bytes = bytes_of(header);
    add(bytes.data(), bytes.size());
}

void Writer::add(const void* data, std::size_t bytes) {
    crc_.add(static_cast<const std::byte*>(data), bytes);
    file_.write(data, bytes);
}

void Writer::finish() {
    std::array<std::byte, kChecksumBytes> checksum{};
    std::byte* at = checksum.data();
    put(at, crc_.value());
    file_.write(checksum.data(), checksum.size());
    file_.finish();
}

Header Reader::header(Kind kind) {
    if (file_.bytes() < kHeaderBytes + kChecksumBytes)
        throw BadData("it is no model of espalier: it has " + std::to_string(file_.bytes()) +
                      " bytes, fewer than any: check the path");
    HeaderBytes bytes{};
    get(bytes.data(), bytes.size());
    if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0)
        throw BadData("it is no model of espalier: check the path");
    Header header;
    const std::byte* at = bytes.data() + kMagic.size();
    header.for_each([&](auto& value) { take(at, value); });
    std::uint64_t checksum = 0;
    at = bytes.data() + kHeaderBytes - kChecksumBytes;
    take(at, checksum);
    if (checksum != checksum_of(bytes)) damaged("the checksum of its header is not that of its bytes");
    if (header.version != kVersion)
        throw BadData("it has version " + std::to_string(header.version) + " of the format, this library reads " +
                      std::to_string(kVersion) + ": load it with a newer library, or save the model with this one");
    if (header.kind != static_cast<std::uint32_t>(kind))
        throw BadData(std::string("it holds ") + name_of(header.kind) + ", not " +
                      name_of(static_cast<std::uint32_t>(kind)) + ": load it as what it is");
    return header;
}

void Reader::check_bytes(const Header& header, std::uint64_t needed) const {
    if (header.file_bytes != needed || needed != file_.bytes())
        damaged("it has " + std::to_string(file_.bytes()) + " bytes, and should have " + std::to_string(needed));
}

void Reader::get(void* to, std::size_t bytes) {
    read(to, bytes);
    crc_.add(static_cast<const std::byte*>(to), bytes);
}

void Reader::check() {
    std::array<std::byte, kChecksumBytes> checksum{};
    read(checksum.data(), checksum.size());
    const std::byte* at = checksum.data();
    std::uint64_t expected = 0;
    take(at, expected);
    if (expected != crc_.value()) damaged("its checksum is not that of its bytes");
    std::byte more{};
    if (file_.read(reinterpret_cast<char*>(&more), 1) != 0) damaged("it is longer than it says");
}

void Reader::read(void* to, std::size_t bytes) {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
        const std::size_t got = file_.read(at, bytes);
        if (got == 0) damaged("it ends early");
        at += got;
        bytes -= got;
    }
}

}  // namespace espalier::model_file
