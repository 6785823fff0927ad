#pragma once

#include <span>
#include <string>
#include <vector>

#include "harness/bench/evidence/evidence.hpp"

namespace espalier::bench::learn {

/// A record with its names resolved to the registry's indices.
struct Row {
    const CaseRecord* record;
    std::string problem;  ///< canonical
    Choice candidate;
};

/// Results that are being read: whose, how strictly, and what has come of it.
struct Reading {
    const Family& family;
    const DeviceInfo& device;
    const EvidenceOptions& options;
    Evidence evidence{};
    std::vector<Row> rows{};       ///< in the order of the problems' keys, then of the registry
    std::vector<bool> excluded{};  ///< by variant: it was wrong or crashed somewhere

    [[nodiscard]] std::string name() const { return std::string(family.name()) + " on " + device.key; }
    /// Refused when strict.
    void notice(std::string text);
};

[[noreturn]] void refuse(const std::string& what, const std::string& fix);

/// Fills in the rows, what is excluded, and all of the evidence but its matrix.
void read_rows(std::span<const CaseRecord> records, Reading& reading);

}  // namespace espalier::bench::learn
