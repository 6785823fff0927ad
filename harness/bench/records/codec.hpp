#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "harness/bench/records/case_record.hpp"
#include "harness/bench/records/packing.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// The JSON of the records. Decoding is strict: every member must be there, of its type and in its range,
/// and nothing else may be; whatever is not so is a `BadData` that names the member.
nlohmann::ordered_json encode(const CaseRecord& record);
nlohmann::ordered_json encode(const DeviceInfo& device);
CaseRecord decode_case(const nlohmann::json& body);
DeviceInfo decode_device(const nlohmann::json& body);

/// One self-checking line: {"schema":"espalier.<kind>/1","<kind>":<body>,"crc32":"<8 hex digits>"}, without
/// the newline. The CRC covers every byte before `,"crc32"`; what follows is checked literally, so that no
/// byte of the line can change unnoticed.
std::string seal(std::string_view kind, const nlohmann::ordered_json& body);

/// The same line without its CRC, for a packed file, which has a checksum of its own: the digits of one CRC a line,
/// which nothing packs, are a tenth of such a file.
std::string unsealed(std::string_view kind, const nlohmann::ordered_json& body);

struct Sealed {
    std::string kind;
    nlohmann::json body;
};

/// Why a line cannot have been sealed, or null: by its length and its checksum alone, so that files of millions of
/// lines that are no records cost no exception each.
const char* broken_seal(std::string_view line, Seals seals);

/// The inverse of `seal`, of `unsealed` where the file is sealed as a whole. Throws `BadData` for a damaged line and
/// `NewerSchema` for a whole one from the future.
Sealed unseal(std::string_view line, Seals seals = Seals::each_line);

}  // namespace espalier::bench
