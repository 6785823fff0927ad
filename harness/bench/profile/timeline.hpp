#pragma once

#include <cstdint>
#include <string>

/// The program's own timeline, for whoever has no profiler at hand.
namespace espalier::device {

/// From now on this process' ranges are kept for `write_timeline`. `file` is appended to, so that a sweep and its
/// workers share one.
void begin_timeline(const std::string& file);

/// Kernels and copies, too, from now on, if there is a timeline and CUPTI traces them: for a process that uses a GPU,
/// because tracing creates a context. Launches cannot be described meanwhile (`describe_launches`).
void trace_device_for_timeline();

/// Appends what has ended since the last call, as events of Chrome's trace format, one a line, the array left open as
/// that format allows; waits for the current device. Nothing without a timeline. False if the file cannot be written.
[[nodiscard]] bool write_timeline();

/// NVTX, or nothing in builds without it.
void push_nvtx_range(const char* name);
void pop_nvtx_range();
void mark_nvtx(const char* name);

}  // namespace espalier::device
