#include "harness/sweep/status_count.hpp"

namespace espalier {

void StatusCount::add(std::span<const CaseRecord> records) {
    const std::lock_guard lock(mutex_);
    for (const CaseRecord& record : records) {
        const auto [known, first] = latest_.emplace(record.key(), record.status);
        if (!first && record.status != Status::not_measured) known->second = record.status;
    }
}

std::map<Status, std::size_t> StatusCount::counts() const {
    const std::lock_guard lock(mutex_);
    std::map<Status, std::size_t> counts;
    for (const auto& [key, status] : latest_) ++counts[status];
    return counts;
}

}  // namespace espalier
