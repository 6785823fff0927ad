#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/bench/records/case_record.hpp"
#include "harness/bench/records/disturbance.hpp"

namespace espalier::bench {

/// How the cases of a sweep ended, each counted once: as `merge` will take it, a measured record before one that is
/// `not_measured`, a later one before an earlier one. Any thread may call any function.
class StatusCount {
public:
    void add(std::span<const CaseRecord> records);
    [[nodiscard]] std::map<Status, std::size_t> counts() const;
    /// The cases that are `not_measured`, by the reason.
    [[nodiscard]] std::map<std::string, std::size_t> not_measured() const;
    /// How many problems were disturbed when they were measured last.
    [[nodiscard]] std::size_t disturbed_problems() const;
    /// What is typical of these; nothing if there is none.
    [[nodiscard]] std::optional<Disturbance> disturbance() const;

private:
    mutable std::mutex mutex_;
    struct Latest {
        Status status;
        std::string reason;
    };
    [[nodiscard]] std::vector<Disturbance> disturbances() const;

    std::map<std::string, Latest> latest_;                                  ///< by case
    std::map<std::pair<std::string, std::string>, Disturbance> disturbed_;  ///< by family and problem
};

}  // namespace espalier::bench
