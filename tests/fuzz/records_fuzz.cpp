// Coverage-guided fuzzing of what reads records: clang's libFuzzer, under AddressSanitizer and
// UndefinedBehaviorSanitizer. Any text may be refused with BadData; nothing else may happen. Every mutation of a
// sealed line is caught by its checksum, so the text is also read as what stands inside of one.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "harness/base/text/csv_field.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/records/case_lines.hpp"
#include "harness/bench/records/codec.hpp"
#include "harness/bench/records/csv.hpp"
#include "harness/bench/records/roofline.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"

/// The readers alone are linked, no family.
const espalier::bench::Family* espalier::bench::find_family(std::string_view) { return nullptr; }

namespace {

using namespace espalier;
using namespace espalier::bench;

template <class Read>
void refused_or_fine(Read read) {
    try {
        read();
    } catch (const BadData&) {
    }
}

void require(bool condition) {
    if (!condition) std::abort();
}

/// What the library loads at run time, as it stands and with the checksum of what it has become.
void read_trees(std::string_view text) {
    refused_or_fine([&] { static_cast<void>(read_tree(text)); });
    const auto end = text.rfind(",\n \"crc32\"");
    const std::string body(text.substr(0, end));
    refused_or_fine([&] {
        const TreeFile tree = read_tree(seal_tree(body + "\n}\n"));
        for (std::size_t i = 0; i < tree.nodes.size(); ++i)
            require(tree.nodes[i].feature.empty()
                        ? !tree.nodes[i].ranking.empty()
                        : tree.nodes[i].left > i && tree.nodes[i].right > i && tree.nodes[i].right < tree.nodes.size());
    });
}

/// What was accepted can be written, shown and read again, and is then the same.
void read_case(const nlohmann::json& body) {
    for (const CaseRecord& record : decode_cases(body)) {
        const std::string line = seal("case", encode(record));
        require(encode(decode_case(unseal(line).body)) == encode(record));
        static_cast<void>(to_csv({&record, 1}));
        static_cast<void>(implausible(record, DeviceInfo{}));
    }
}

void read_device(const nlohmann::json& body) {
    const DeviceInfo device = decode_device(body);
    require(encode(decode_device(unseal(seal("device", encode(device))).body)) == encode(device));
}

void read_body(std::string_view text) {
    const nlohmann::json whole = parse_checked(text);
    require(!whole.dump(-1, ' ', false, nlohmann::json::error_handler_t::strict).empty());
    // A line of a journal, its checksum not looked at, or the body of a record.
    for (const char* kind : {"case", "device"}) {
        const nlohmann::json& body = whole.is_object() && whole.contains(kind) ? whole[kind] : whole;
        refused_or_fine([&] { *kind == 'c' ? read_case(body) : read_device(body); });
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    refused_or_fine([&] { static_cast<void>(unseal(text)); });
    refused_or_fine([&] { read_body(text); });
    read_trees(text);
    for (const char c : printable(text)) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
    static_cast<void>(csv_field(text));
    return 0;
}
