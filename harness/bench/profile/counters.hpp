#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Hardware counters of a GPU, named as CUPTI names them. Collected in a pass of their own: a counter
/// pass repeats the launch and may run it at other clocks, so its times are never reported as timings.
namespace espalier::device {

/// One metric of one measurement; without a value there is a reason.
struct CounterReading {
    std::string name;
    std::optional<double> value;
    std::string reason;
};

/// What one pass over a kernel collects: time, DRAM traffic, instruction and occupancy rates, shared-memory
/// bank conflicts, L2 sectors.
std::span<const std::string_view> basic_counters();

/// `basic_counters` and what needs more passes: hit rates, sectors per request, operation counts.
std::span<const std::string_view> full_counters();

/// Metrics prepared for the current GPU. The profiler works only while they are measured, so that a session may be
/// kept beside timings: opening one takes longer than measuring a kernel.
class CounterSession {
public:
    virtual ~CounterSession() = default;

    /// Runs all `launches` once per pass that the metrics need, each time after `prepare` (restore inputs, flush
    /// caches), whose own work is not counted. For each launch one reading per metric asked for, in that order.
    virtual std::vector<std::vector<CounterReading>> measure(const std::function<void()>& prepare,
                                                             std::span<const std::function<void()>> launches) = 0;

    [[nodiscard]] virtual std::size_t passes() const = 0;
};

/// Opens a session for these metrics; a metric that the chip lacks does not spoil the others. On failure
/// null, and `reason` says why and what would allow it.
std::unique_ptr<CounterSession> open_counters(std::span<const std::string_view> metrics, std::string& reason);

}  // namespace espalier::device
