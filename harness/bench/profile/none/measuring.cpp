// harness/bench/profile/ceilings.hpp, clocks.hpp and NVTX for the host executor, which is never timed or profiled.

#include "harness/bench/profile/ceilings.hpp"
#include "harness/bench/profile/clocks.hpp"
#include "harness/bench/profile/timeline.hpp"

namespace espalier::device {

Ceilings measure_gpu_ceilings() { return {}; }
void launch_nothing() {}
void read_through(const void*, std::size_t) {}
std::string gpu_runtime_version() { return "none"; }
std::string gpu_driver_version() { return "none"; }

ClockState read_clocks() { return {}; }

void push_nvtx_range(const char*) {}
void pop_nvtx_range() {}
void mark_nvtx(const char*) {}

}  // namespace espalier::device
