#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace espalier::bench::report {

/// The formats of an export, one file per family: <family>.csv, <family>.json with the same columns,
/// <family>.benchmark.json (Google Benchmark's), <family>.t4.json (the auto-tuning community's), choices/<family>.csv,
/// what the library runs for each problem, and beside a device's own sweep trees/<family>.csv, its tree to be drawn.
enum class ExportFormat { csv, json, benchmark, t4, choices, tree };

/// A folder of records below a folder of results, and where its exports go below the folder of exports: the same path.
struct RecordSet {
    std::filesystem::path records;
    std::filesystem::path place;  ///< <key>, <key>/unseen, <key>/peers, published/<key>
};

/// The records of a device in `results`: its sweep, its unseen problems, its peers, its cases of the published suite.
std::vector<RecordSet> record_sets(const std::filesystem::path& results, const std::string& device_key);

/// The cases of the published suite, of every device.
std::vector<RecordSet> published_sets(const std::filesystem::path& results);

/// The files that exporting a set writes below `output`.
std::vector<std::filesystem::path> export_paths(const RecordSet& set, const std::filesystem::path& output,
                                                std::span<const ExportFormat> formats,
                                                std::span<const std::string> families);

/// Writes the exports of a set, of all families or of those named; returns their paths. Each file appears whole or not
/// at all. Throws `BadData` for records that cannot be read and files that cannot be written.
std::vector<std::filesystem::path> export_records(const RecordSet& set, const std::filesystem::path& output,
                                                  std::span<const ExportFormat> formats,
                                                  std::span<const std::string> families);

}  // namespace espalier::bench::report
