#include "harness/bench/sweep/record/status_count.hpp"

namespace espalier::bench {

void StatusCount::add(std::span<const CaseRecord> records) {
    const std::lock_guard lock(mutex_);
    for (const CaseRecord& record : records) {
        const auto [known, first] = latest_.emplace(record.key(), Latest{record.status, record.reason});
        if (!first && record.status != Status::not_measured) known->second = {record.status, record.reason};
        if (record.status != Status::ok) continue;
        if (const auto disturbance = disturbance_of(record))
            disturbed_.insert_or_assign({record.family, record.problem}, *disturbance);
        else
            disturbed_.erase({record.family, record.problem});
    }
}

std::map<Status, std::size_t> StatusCount::counts() const {
    const std::lock_guard lock(mutex_);
    std::map<Status, std::size_t> counts;
    for (const auto& [key, latest] : latest_) ++counts[latest.status];
    return counts;
}

std::map<std::string, std::size_t> StatusCount::not_measured() const {
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::size_t> counts;
    for (const auto& [key, latest] : latest_)
        if (latest.status == Status::not_measured) ++counts[latest.reason];
    return counts;
}

std::size_t StatusCount::disturbed_problems() const { return disturbances().size(); }

std::optional<Disturbance> StatusCount::disturbance() const { return typical(disturbances()); }

std::vector<Disturbance> StatusCount::disturbances() const {
    const std::lock_guard lock(mutex_);
    std::vector<Disturbance> list;
    for (const auto& [problem, disturbance] : disturbed_) list.push_back(disturbance);
    return list;
}

}  // namespace espalier::bench
