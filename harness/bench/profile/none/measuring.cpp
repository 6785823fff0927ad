// harness/bench/profile/ceilings.hpp, clocks.hpp and range.hpp for the host executor, which is never timed or profiled.

#include "harness/base/range.hpp"
#include "harness/bench/profile/ceilings.hpp"
#include "harness/bench/profile/clocks.hpp"

namespace espalier::device {

Ceilings measure_gpu_ceilings() { return {}; }
void launch_nothing() {}
void read_through(const void*, std::size_t) {}
std::string gpu_runtime_version() { return "none"; }
std::string gpu_driver_version() { return "none"; }

ClockState read_clocks() { return {}; }

Range::Range(const std::string&) {}
Range::~Range() = default;

}  // namespace espalier::device
