#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "harness/records/case_record.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// What one shard of a sweep set out to measure on one device. Written before its cases, so that `merge`
/// can tell what is missing, whole shards included.
struct PlanRecord {
    struct Item {
        std::string family, problem;
        std::int64_t cases = 0;
    };
    std::string session;
    std::string device_key;
    std::string plan;  ///< SHA-256 of all shards' case keys: what the shards of one sweep have in common
    int shard = 1;     ///< 1..shards
    int shards = 1;
    std::vector<Item> items;  ///< of this shard
};

/// Appends records to a journal: JSON Lines that only ever grow, each line checking itself (codec.hpp).
/// Any number of processes may append to one file. A batch is one `write` under a lock, followed by
/// fdatasync; a failed one is discarded, so that what is in the file stays whole. Throws `BadData`.
class JournalWriter {
public:
    explicit JournalWriter(const std::filesystem::path& path);
    ~JournalWriter();
    JournalWriter(const JournalWriter&) = delete;
    JournalWriter& operator=(const JournalWriter&) = delete;

    void append(std::span<const CaseRecord> records);
    void append(const PlanRecord& plan);
    void append(const DeviceInfo& device);

private:
    void append_lines(std::string lines);

    std::filesystem::path path_;
    int file_ = -1;
};

/// A stretch of a journal that holds no complete record.
struct Damage {
    std::uint64_t offset = 0, bytes = 0;
    std::string reason;
};

struct Journal {
    std::vector<CaseRecord> cases;  ///< in file order
    std::vector<PlanRecord> plans;
    std::vector<DeviceInfo> devices;
    std::vector<Damage> damage;
};

/// Every complete record of a journal; the rest is in `damage`. Throws `BadData` if the file cannot be
/// read and `NewerSchema` if a newer version wrote a record of it.
Journal load_journal(const std::filesystem::path& path);

}  // namespace espalier::bench
