#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/apps/seismic/miniseed_blocks.hpp"

namespace espalier::bench::seismic {

constexpr std::int64_t kMiniSeed3HeaderBytes = 40;

/// Whether bytes begin as a record of miniSEED 3 does; a valid time of day is part of it.
bool is_miniseed3(std::span<const char> bytes);

/// The length of the record that begins with these bytes, kMiniSeed3HeaderBytes at least.
std::int64_t miniseed3_bytes(std::span<const char> bytes);

/// The header of a whole record, its place apart. Returns what is wrong with it, a wrong checksum (CRC-32C) for
/// example.
std::optional<std::string> parse_miniseed3(std::span<const char> record, MiniSeedHeader& header);

/// Decodes a whole record; what is wrong as in `decode_miniseed`.
std::optional<std::string> decode_miniseed3(std::span<const char> record, std::vector<float>& samples);

/// What is wrong with a Steim record whose first frame begins at `frames`: its last sample is not the announced one.
std::optional<std::string> check_steim(std::span<const char> frames, bool big_endian, std::int32_t last);

}  // namespace espalier::bench::seismic
