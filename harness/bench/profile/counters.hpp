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

/// `basic_counters` and what needs more passes: hit rates, sectors per request, operation counts, divergence, atomics,
/// the tensor pipe, and what warps wait for.
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

/// Opens a session for these metrics; one that the chip lacks, or cannot collect with the others, does not spoil them.
/// On failure null, and `reason` says why and what would allow it.
std::unique_ptr<CounterSession> open_counters(std::span<const std::string_view> metrics, std::string& reason);

/// What holds a kernel's occupancy down is known from how it is launched and not counted. Of the kernel that most of
/// the run's device time goes to, by the names that Nsight Compute has for the same:
/// `launch__{block_size,grid_size,registers_per_thread,shared_mem_per_block}` (bytes),
/// `launch__occupancy_limit_{registers,shared_mem,warps,blocks}` (the blocks that each lets a multiprocessor hold: the
/// least of them limits), `sm__maximum_warps_per_active_cycle_pct` (the theoretical occupancy); and by names of our own
/// `launch__local_mem_per_thread` (bytes: spilled registers and what is indexed), `launch__kernels` (how many the run
/// launches) and `launch__share_of_time` (that kernel's, 0 to 1). Runs once; throws what `run` throws. One reading
/// without a value, and the reason, where nothing can be traced.
std::vector<CounterReading> describe_launches(const std::function<void()>& run);

}  // namespace espalier::device
