#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

/// What ran on a GPU and when, as CUPTI's activity records tell it.
namespace espalier::device {

/// A kernel, a copy or a fill that ran on the device.
struct Activity {
    std::string name;                        ///< a kernel's, demangled; "copy to device", "fill" and the like
    std::uint64_t start_ns = 0, end_ns = 0;  ///< by the clock of `activity_clock_ns`
    std::uint32_t stream = 0;
    bool is_kernel = false;  ///< the rest is about kernels
    std::int64_t blocks = 0;
    int block_size = 0, registers = 0;                                ///< threads; registers of each
    std::uint64_t static_shared_bytes = 0, dynamic_shared_bytes = 0;  ///< of a block
    std::uint64_t local_bytes = 0;                                    ///< of a thread
    int shared_percent = -1;  ///< of the L1 memory, as the kernel prefers; -1 if it does not say
};

/// Tracing of this process' device work, for as long as the object lives. One at a time.
class ActivityTrace {
public:
    virtual ~ActivityTrace() = default;

    /// Waits for the current device and takes what has run since the trace began or the last call, in the order of the
    /// starts. Throws `DeviceError` for work that failed.
    virtual std::vector<Activity> take() = 0;
};

/// Begins to trace. Null, and `reason` says why, where there is no CUPTI or another trace.
std::unique_ptr<ActivityTrace> trace_activity(std::string& reason);

/// Nanoseconds of the clock that activities are stamped with; 0 without CUPTI.
std::uint64_t activity_clock_ns();

}  // namespace espalier::device
