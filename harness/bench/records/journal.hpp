#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "harness/bench/records/case_record.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// The cases that one shard of a sweep set out to measure on one device. Written before them, so that `merge`
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
/// Any number of processes may append to one file, which is a regular one: what a symbolic link leads to is not
/// written, nor a pipe or a device. A batch is one `write` under a lock, followed by fdatasync; a failed one is
/// discarded, so that what is in the file stays whole. Throws `BadData`.
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
    std::size_t lines = 0;    ///< with anything in them
    std::size_t damaged = 0;  ///< of these, without a complete record, but for torn ones
    std::size_t torn = 0;     ///< the beginnings of records, as a writer leaves one that is killed or loses its power
    /// Whether more is damaged than the writers can have torn: each begins with a plan, and tears one line.
    [[nodiscard]] bool is_damaged() const { return damaged > 0 || torn > plans.size() + 1; }
};

/// Every complete record of a journal; the rest is in `damage`. Throws `BadData` if the file cannot be
/// read (lines.hpp) or nearly nothing of it is a record, and `NewerSchema` if a newer version wrote a record of it.
Journal load_journal(const std::filesystem::path& path);

}  // namespace espalier::bench
