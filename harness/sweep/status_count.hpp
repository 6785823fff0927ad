#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <span>
#include <string>

#include "harness/records/case_record.hpp"

namespace espalier {

/// How the cases of a sweep ended, each counted once: as `merge` will take it, a measured record before one that is
/// `not_measured`, a later one before an earlier one. Any thread may call any function.
class StatusCount {
public:
    void add(std::span<const CaseRecord> records);
    [[nodiscard]] std::map<Status, std::size_t> counts() const;

private:
    mutable std::mutex mutex_;
    std::map<std::string, Status> latest_;  ///< by case
};

}  // namespace espalier
