#include "harness/bench/profile/cpu_loops.hpp"

#include "harness/bench/profile/portable_loops.hpp"

namespace espalier::bench {

CpuLoops cpu_loops(const DeviceInfo&) { return {read_portable, multiply_add_portable, integer_multiply_add_portable}; }

}  // namespace espalier::bench
