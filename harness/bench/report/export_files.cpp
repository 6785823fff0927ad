#include "harness/bench/report/export_files.hpp"

#include <algorithm>
#include <deque>
#include <future>
#include <set>
#include <thread>

#include "harness/bench/judge/choices.hpp"
#include "harness/bench/judge/over_data.hpp"
#include "harness/bench/records/atomic_file.hpp"
#include "harness/bench/records/csv.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/records/stale.hpp"
#include "harness/bench/report/exports.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench::report {
namespace {

namespace fs = std::filesystem;

std::set<std::string> families_in(const fs::path& folder, std::span<const std::string> wanted) {
    std::set<std::string> families;
    for (const auto& entry : fs::directory_iterator(folder)) {
        std::string family = family_of_file(entry.path());
        if (!family.empty() && (wanted.empty() || std::ranges::count(wanted, family)))
            families.insert(std::move(family));
    }
    return families;
}

fs::path export_path(const RecordSet& set, const fs::path& output, const std::string& family, ExportFormat format) {
    switch (format) {
        case ExportFormat::csv: return output / set.place / (family + ".csv");
        case ExportFormat::json: return output / set.place / (family + ".json");
        case ExportFormat::benchmark: return output / set.place / (family + ".benchmark.json");
        case ExportFormat::choices: return output / set.place / "choices" / (family + ".csv");
        case ExportFormat::tree: return output / set.place / "trees" / (family + ".csv");
        case ExportFormat::t4: break;
    }
    return output / set.place / (family + ".t4.json");
}

bool applies(ExportFormat format, const RecordSet& set) {
    return format != ExportFormat::tree || !set.place.has_parent_path();
}

/// The folder of the device's own sweep says which variants' times still hold. A list that cannot be read names none:
/// `espalier verify` tells of it, and the exports need not wait.
KnownStaleList known_stale(const RecordSet& set, const std::string& device_key) try {
    fs::path results = set.records;
    for (const fs::path& part : set.place)
        if (!part.empty()) results = results.parent_path();
    return load_known_stale(results / device_key);
} catch (const BadData&) {
    return {};
}

std::string exported(const std::string& family, const DeviceResults& results, const RecordSet& set,
                     ExportFormat format) {
    switch (format) {
        case ExportFormat::csv: return to_csv(results.cases);
        case ExportFormat::json: return to_json_rows(results.cases);
        case ExportFormat::benchmark: return google_benchmark_json(results.device, results.cases);
        case ExportFormat::choices:
            return learn::choices_csv(family, results.device, results.cases, known_stale(set, results.device.key));
        case ExportFormat::tree: return learn::tree_csv(family, results.device.key);
        case ExportFormat::t4: break;
    }
    return t4_json(results.cases);
}

}  // namespace

std::vector<RecordSet> record_sets(const fs::path& results, const std::string& device_key) {
    std::vector<RecordSet> sets;
    for (const fs::path& place : {fs::path(device_key), fs::path(device_key) / "unseen", fs::path(device_key) / "peers",
                                  fs::path("published") / device_key})
        if (fs::exists(results / place / "device.json")) sets.push_back({results / place, place});
    return sets;
}

std::vector<RecordSet> published_sets(const fs::path& results) {
    std::vector<RecordSet> sets;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(results / "published", none))
        if (fs::exists(entry.path() / "device.json", none))
            sets.push_back({entry.path(), fs::path("published") / entry.path().filename()});
    std::ranges::sort(sets, {}, &RecordSet::place);
    return sets;
}

std::vector<fs::path> export_paths(const RecordSet& set, const fs::path& output, std::span<const ExportFormat> formats,
                                   std::span<const std::string> families) {
    std::vector<fs::path> paths;
    for (const std::string& family : families_in(set.records, families))
        for (const ExportFormat format : formats)
            if (applies(format, set)) paths.push_back(export_path(set, output, family, format));
    return paths;
}

std::vector<fs::path> export_records(const RecordSet& set, const fs::path& output,
                                     std::span<const ExportFormat> formats, std::span<const std::string> families) {
    const std::set<std::string> all = families_in(set.records, families);
    const auto write = [&](const std::string& family) {
        DeviceResults results = load_results(set.records, std::span(&family, 1));
        const Family* const known = find_family(family);
        if (set.place.filename() == "unseen" && known) results.cases = learn::over_data(*known, results.cases);
        for (const ExportFormat format : formats)
            if (applies(format, set))
                write_file_atomically(export_path(set, output, family, format), exported(family, results, set, format));
    };
    // As many families at a time as there are processors: of a full sweep all together take hundreds of megabytes.
    std::deque<std::future<void>> running;
    for (const std::string& family : all) {
        if (running.size() >= std::max(std::thread::hardware_concurrency(), 1U)) {
            running.front().get();
            running.pop_front();
        }
        running.push_back(std::async(std::launch::async, write, family));
    }
    for (auto& one : running) one.get();
    return export_paths(set, output, formats, families);
}

}  // namespace espalier::bench::report
