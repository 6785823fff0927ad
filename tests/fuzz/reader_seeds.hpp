#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace espalier::bench::fuzz {

enum class Reader : std::uint8_t {
    image,
    table,
    targets,
    filter,
    receivers,
    index,
    raw,
    segy,
    miniseed,
    amounts,
    image_pipe,
    arff,
    libsvm,
    bytes,
    table_pipe,
    filter_pipe,
    receivers_pipe,
    segy_pipe,
    miniseed_pipe,
    count
};

constexpr std::int64_t kReceivers = 3, kSamples = 100;  ///< of a raw file

/// Small good files, made by the writers of this project and of the formats' libraries.
std::vector<std::pair<Reader, std::string>> seeds();

/// Makes the checksums of a PNG's chunks and of miniSEED 3's records those of what they hold; leaves other files alone.
void correct_checksums(std::span<std::uint8_t> file);

}  // namespace espalier::bench::fuzz
