#include "harness/bench/profile/counters.hpp"

namespace espalier::device {

std::unique_ptr<CounterSession> open_counters(std::span<const std::string_view>, std::string& reason) {
    reason = "this build has no CUDA: configure with nvcc on the PATH for hardware counters";
    return nullptr;
}

std::vector<CounterReading> describe_launches(const std::function<void()>& run) {
    run();
    return {{"launch__kernels", std::nullopt, "this build has no CUDA"}};
}

}  // namespace espalier::device
