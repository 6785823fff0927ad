#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "espalier/error.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/api/new_file.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/crc64.hpp"
#include "kernels/json/regular_file.hpp"

/// The file of a model of nearest neighbours, in single or in double precision.
///
/// Little-endian: a header of 96 bytes with a checksum of its own, then what the kind of model has, and the CRC-64 of
/// all before. The header says how long the file is, so that nothing is allocated for one that is not.
namespace espalier::model_file {

/// The kind of model in a file. The numbers are part of the format.
enum class Kind : std::uint32_t {
    classifier,
    regressor,
    neighbours,
    exact_classifier,
    exact_regressor,
    exact_neighbours,
};

/// Numbers in the order of the header, between its first eight bytes and its checksum.
struct Header {
    std::uint32_t version = 1, kind = 0;
    std::uint64_t file_bytes = 0;
    std::int64_t points = 0, dims = 0, k = 0;
    std::uint32_t metric = 0, missing = 0, vote = 0, flags = 0;
    std::uint64_t p_bits = 0;  ///< of a double
    std::int64_t given_dims = 0;

    template <class Each>
    void for_each(Each each) {
        each(version), each(kind), each(file_bytes), each(points), each(dims), each(k);
        each(metric), each(missing), each(vote), each(flags), each(p_bits), each(given_dims);
    }
};

inline constexpr std::size_t kHeaderBytes = 96, kChecksumBytes = 8;

/// Throws `BadData` for a file that is damaged in the way that `what` says.
[[noreturn]] void damaged(const std::string& what);

/// Writes a file; every byte counts for the checksum. All members throw `BadData`.
class Writer {
public:
    Writer(const std::string& path, const Header& header);

    void add(const void* data, std::size_t bytes);
    template <class T>
    void add_numbers(std::span<const T> values);
    void finish();

private:
    NewFile file_;
    Crc64 crc_;
};

/// Reads a file to its end; every byte counts for the checksum. All members throw `BadData`.
class Reader {
public:
    explicit Reader(const std::string& path) : file_(path) {}

    /// A header whose checksum and version are right and whose kind is `kind`. Its other members are what the file
    /// says.
    Header header(Kind kind);

    /// Refuses a file that has not as many bytes as its header says, or as its sizes need.
    void check_bytes(const Header& header, std::uint64_t needed) const;

    void get(void* to, std::size_t bytes);
    template <class T>
    void get_numbers(std::vector<T>& values, std::uint64_t count);

    /// After the last of it.
    void check();

private:
    void read(void* to, std::size_t bytes);

    RegularFile file_;
    Crc64 crc_;
};

/// In the file all numbers are little-endian.
template <class T>
void swap_on_big_endian(std::span<T> values) {
    if constexpr (std::endian::native == std::endian::big)
        for (T& value : values) {
            auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
            std::ranges::reverse(bytes);
            value = std::bit_cast<T>(bytes);
        }
}

template <class T>
void Writer::add_numbers(std::span<const T> values) {
    if constexpr (std::endian::native == std::endian::big) {
        std::vector<T> swapped(values.begin(), values.end());
        swap_on_big_endian(std::span(swapped));
        add(swapped.data(), swapped.size() * sizeof(T));
    } else {
        add(values.data(), values.size_bytes());
    }
}

template <class T>
void Reader::get_numbers(std::vector<T>& values, std::uint64_t count) {
    values.resize(static_cast<std::size_t>(count));
    get(values.data(), values.size() * sizeof(T));
    swap_on_big_endian(std::span(values));
}

/// Throws `BadData` for a path that no file can have.
void check_path(const std::string& path);

/// Runs `read`, and names the file in what it throws.
template <class Read>
auto naming(const std::string& path, Read read) -> decltype(read()) {
    check_path(path);
    try {
        return read();
    } catch (const BadData& error) {
        throw BadData("'" + path + "': " + error.what());
    }
}

/// Runs a public function of which files are a part.
template <class Function>
auto guarded_file(Function function) noexcept -> decltype(function()) {
    return guarded([&]() -> decltype(function()) {
        try {
            return function();
        } catch (const BadData& error) {
            return Error{ErrorCode::bad_file, error.what()};
        }
    });
}

}  // namespace espalier::model_file
