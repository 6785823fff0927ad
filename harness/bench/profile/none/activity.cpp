#include "harness/bench/profile/activity.hpp"

namespace espalier::device {

std::unique_ptr<ActivityTrace> trace_activity(std::string& reason) {
    reason = "this build has no CUDA: configure with nvcc on the PATH to trace a GPU";
    return nullptr;
}

std::uint64_t activity_clock_ns() { return 0; }

}  // namespace espalier::device
