#include "harness/bench/records/results.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/bench/records/atomic_file.hpp"
#include "harness/bench/records/case_lines.hpp"
#include "harness/bench/records/codec.hpp"
#include "harness/bench/records/lines.hpp"
#include "harness/bench/records/packing.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

nlohmann::ordered_json encode(const std::vector<MissingCases>& missing) {
    auto list = nlohmann::ordered_json::array();
    for (const MissingCases& each : missing)
        list.push_back({{"family", each.family},
                        {"problem", each.problem},
                        {"shard", each.shard},
                        {"description", each.description}});
    return {{"holes", std::move(list)}};
}

std::vector<MissingCases> decode_missing(const nlohmann::json& body) {
    Fields fields(body, "coverage");
    std::vector<MissingCases> missing;
    for (const auto& entry : fields.array("holes", 1'000'000)) {
        Fields each(entry, "hole");
        missing.push_back({each.word("family"), each.word("problem", "_=;.-", 1024),
                           static_cast<int>(each.whole("shard", 0, 1'000'000)), each.text("description", 1024)});
        each.done();
    }
    fields.done();
    return missing;
}

/// The only line of a file that holds one sealed record.
Sealed read_single(const fs::path& path, std::string_view kind) {
    Sealed sealed;
    int lines = 0;
    for_each_line(path, [&](const Line& line) {
        if (++lines > 1 || line.overlong) throw BadData(path.string() + ": more than the one line that it should have");
        try {
            sealed = unseal(line.text);
        } catch (const NewerSchema& error) {
            throw NewerSchema(path.string() + ": " + error.what());
        } catch (const BadData& error) {
            throw BadData(path.string() + ": " + error.what() + ": restore it or merge the journals again");
        }
    });
    if (lines == 0 || sealed.kind != kind) throw BadData(path.string() + ": holds no " + std::string(kind) + " record");
    return sealed;
}

std::string sealed_lines(std::span<const CaseRecord> cases) {
    std::string lines;
    for (const CaseRecord& record : cases) lines += seal("case", espalier::bench::encode(record)) + '\n';
    return lines;
}

/// Whether a packed file holds these lines: packing them anew takes seconds and changes nothing.
bool holds(const fs::path& file, std::string_view lines) {
    if (!is_packed(file)) return false;
    bool same = true;
    try {
        for_each_line(file, [&](const Line& line) {
            same = same && !line.overlong && lines.starts_with(line.text) &&
                   lines.substr(line.text.size()).starts_with('\n');
            if (same) lines.remove_prefix(line.text.size() + 1);
        });
    } catch (const BadData&) {
        return false;  // damaged: written anew
    }
    return same && lines.empty();
}

}  // namespace

std::string family_of_file(const fs::path& file) {
    const fs::path unpacked = is_packed(file) ? file.stem() : file.filename();
    return unpacked.extension() == ".jsonl" ? unpacked.stem().string() : "";
}

fs::path cases_file(const fs::path& folder, const std::string& family) {
    for (const char* ending : {".jsonl.xz", ".jsonl.gz"})
        if (fs::path packed = folder / (family + ending); fs::exists(packed)) return packed;
    return folder / (family + ".jsonl");
}

std::vector<fs::path> result_files(const fs::path& folder, std::set<std::string> families) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder, none))
        if (std::string family = family_of_file(entry.path()); !family.empty()) families.insert(std::move(family));
    std::vector<fs::path> files{folder / "coverage.json", folder / "device.json"};
    for (const std::string& family : families) files.push_back(cases_file(folder, family));
    return files;
}

std::vector<CaseRecord> load_cases(const fs::path& file) {
    std::vector<CaseRecord> cases;
    std::set<std::string> seen;
    const Seals seals = seals_of(file);
    const std::string family = family_of_file(file);
    int number = 0;
    for_each_line(file, [&](const Line& line) {
        ++number;
        const auto refuse = [&](const std::string& why) {
            throw BadData(file.string() + ", line " + std::to_string(number) + ": " + why +
                          ": restore the file or merge the journals again");
        };
        if (line.overlong) refuse("longer than any record");
        try {
            Sealed sealed = unseal(line.text, seals);
            if (sealed.kind != "case") throw BadData("not a case");
            for (CaseRecord& record : decode_cases(std::move(sealed.body))) {
                if (!seen.insert(record.key()).second) throw BadData("the case occurs twice");
                if (record.family != family) throw BadData("a case of another family than the file's");
                cases.push_back(std::move(record));
            }
        } catch (const NewerSchema& error) {
            throw NewerSchema(file.string() + ", line " + std::to_string(number) + ": " + error.what());
        } catch (const BadData& error) {
            refuse(error.what());
        }
    });
    return cases;
}

DeviceInfo load_device(const fs::path& folder) {
    return decode_device(read_single(folder / "device.json", "device").body);
}

std::vector<CaseRecord> cases_of(const DeviceResults& results, std::string_view family) {
    std::vector<CaseRecord> cases;
    for (const CaseRecord& record : results.cases)
        if (record.family == family) cases.push_back(record);
    return cases;
}

DeviceResults load_results(const fs::path& folder, std::span<const std::string> families) {
    DeviceResults results;
    results.device = load_device(folder);
    if (fs::exists(folder / "coverage.json"))
        results.missing = decode_missing(read_single(folder / "coverage.json", "coverage").body);
    std::set<std::string> measured;
    for (const auto& entry : fs::directory_iterator(folder)) {
        std::string family = family_of_file(entry.path());
        if (!family.empty() && (families.empty() || std::ranges::count(families, family)))
            measured.insert(std::move(family));
    }
    for (const std::string& family : measured) {
        const fs::path file = cases_file(folder, family);
        for (CaseRecord& record : load_cases(file)) {
            if (record.provenance.device_key != results.device.key)
                throw BadData(file.string() + ": has a case of device " + record.provenance.device_key +
                              " among those of " + results.device.key + ": keep devices apart");
            results.cases.push_back(std::move(record));
        }
    }
    return results;
}

void save_results(const fs::path& folder, const DeviceResults& results, Packing packing) {
    std::map<std::string, std::vector<CaseRecord>> families;
    for (const CaseRecord& record : results.cases) families[record.family].push_back(record);
    for (const auto& [family, cases] : families) {
        const fs::path before = cases_file(folder, family);
        const bool packed = packing == Packing::packed || is_packed(before);
        const std::string lines = packed ? packed_lines(cases) : sealed_lines(cases);
        const fs::path file = packed ? folder / (family + ".jsonl.xz") : before;
        if (file == before && holds(file, lines)) continue;
        write_file_atomically(file, packed ? pack(lines) : lines);
        if (file != before) fs::remove(before);
    }
    write_file_atomically(folder / "coverage.json", seal("coverage", encode(results.missing)) + '\n');
    write_file_atomically(folder / "device.json", seal("device", espalier::bench::encode(results.device)) + '\n');
}

fs::path unseen_folder(const fs::path& device_folder) { return device_folder / "unseen"; }

}  // namespace espalier::bench
