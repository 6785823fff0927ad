#include "harness/bench/records/stale.hpp"

#include <algorithm>

#include "harness/base/files/read_file.hpp"
#include "harness/bench/families/family.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"

namespace espalier::bench {

std::vector<StaleVariant> find_stale(std::span<const CaseRecord> records) {
    std::map<std::string, StaleVariant> found;
    for (const CaseRecord& record : records) {
        const Family* family = find_family(record.family);
        const std::size_t variant = family ? family->find(record.variant) : Family::npos;
        if (variant == Family::npos) continue;
        const std::string_view now = family->variants()[variant].source_id;
        const std::string& measured = record.provenance.source_id;
        if (measured == now) continue;
        StaleVariant& stale = found[record.family + "/" + record.variant];
        stale.family = record.family, stale.variant = record.variant, stale.source_id = now;
        stale.measured_id = stale.rows == 0 ? measured : std::min(stale.measured_id, measured);
        ++stale.rows;
        stale.timed += record.status == Status::ok;
    }
    std::vector<StaleVariant> list;
    for (auto& [name, stale] : found) list.push_back(std::move(stale));
    return list;
}

KnownStaleList load_known_stale(const std::filesystem::path& device_folder) {
    const auto path = device_folder / "known_stale.json";
    KnownStaleList known;
    const auto text = read_file(path);
    if (!text) return known;
    constexpr std::size_t kMostVariants = 10'000, kLongestReason = 1024;
    try {
        const auto json = parse_checked(*text);
        Fields fields(json, "the list of stale variants");
        if (fields.text("schema") != "espalier.known_stale/1") fields.refuse("schema", "is not espalier.known_stale/1");
        for (const auto& [name, value] : fields.object("variants", kMostVariants).items()) {
            Fields entry(value, name);
            known[name] = {entry.word("source_id"), entry.text("reason", kLongestReason)};
            entry.done();
        }
        fields.done();
    } catch (const BadData& error) {
        throw BadData(path.string() + ": " + error.what());
    }
    return known;
}

bool is_known(const KnownStaleList& known, const StaleVariant& stale) {
    const auto entry = known.find(stale.name());
    return entry != known.end() && entry->second.source_id == stale.source_id;
}

std::string describe(const StaleVariant& stale) {
    return stale.name() + ": " + std::to_string(stale.rows) + " records (" + std::to_string(stale.timed) +
           " times) are of source " + stale.measured_id.substr(0, 12) + ", today's is " +
           stale.source_id.substr(0, 12) + ": sweep it again";
}

}  // namespace espalier::bench
