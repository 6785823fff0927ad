#include "harness/bench/records/roofline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace espalier::bench {
namespace {

// A case that beats the roofline by more than these did not do its work. Ceilings are measured to a few percent and
// clocks move; a write-back cache takes outputs that reach memory after the clock has stopped.
constexpr double kMemorySlack = 4;
// A variant may honestly need fewer operations than the family's cost model counts: tensor cores have 13
// times the rate of the single-precision pipe that the ceiling is of, and sub-sums shared between
// neighbours save an order of magnitude of the additions.
constexpr double kArithmeticSlack = 32;

double memory_rate(double bytes, const DeviceInfo& device, bool warm) {
    // Warm data that fits the last-level cache is bound by the caches, not by memory.
    return warm && bytes <= static_cast<double>(device.l2_bytes) ? device.cached_bytes_per_second
                                                                 : device.bytes_per_second;
}

}  // namespace

double floor_ns(const Cost& cost, const DeviceInfo& device, bool warm) {
    DeviceInfo ceilings = device;
    ceilings.bytes_per_second = memory_rate(cost.bytes, device, warm);
    return cost.roofline_seconds(ceilings) * 1e9;
}

std::optional<std::string> implausible(const CaseRecord& record, const DeviceInfo& device) {
    if (record.status != Status::ok) return std::nullopt;
    for (const double sample : record.samples_ns)
        if (!(sample > 0) || !std::isfinite(sample)) return fmt::format("a sample of {} ns", sample);
    for (const double time : {record.time_ns, record.time_lo_ns, record.time_hi_ns})
        if (!(time > 0) || !std::isfinite(time)) return fmt::format("a time of {} ns", time);
    if (record.time_lo_ns > record.time_ns || record.time_ns > record.time_hi_ns)
        return "the median lies outside of its own interval";
    const double rate = memory_rate(record.bytes, device, record.provenance.cache == "warm");
    const double memory_ns = rate > 0 ? record.bytes / rate * 1e9 : 0;
    if (memory_ns > record.time_ns * kMemorySlack)
        return fmt::format("{:.4g} ns is beyond the memory roofline of {:.4g} ns", record.time_ns, memory_ns);
    if (record.floor_ns > record.time_ns * kArithmeticSlack)
        return fmt::format("{:.4g} ns is far beyond the roofline of {:.4g} ns", record.time_ns, record.floor_ns);
    return std::nullopt;
}

std::optional<std::string> unresolved(const CaseRecord& record) {
    if (record.status != Status::ok) return std::nullopt;
    const auto least = std::ranges::min_element(record.samples_ns);
    if (least == record.samples_ns.end() || *least > 0 || !std::isfinite(*least)) return std::nullopt;
    return fmt::format(
        "too short to be timed: a sample of {} ns, because more was taken off than measured; sweep again", *least);
}

}  // namespace espalier::bench
