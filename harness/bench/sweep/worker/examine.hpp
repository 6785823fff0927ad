#pragma once

#include <string>
#include <vector>

#include "harness/bench/profile/copy_rates.hpp"
#include "harness/bench/sweep/plan/plan.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench {

/// What a sweep would find on one device.
struct Examination {
    std::string name;     ///< as `--device` takes it
    std::string refusal;  ///< why it cannot be used; the rest is empty then
    DeviceInfo device;    ///< with ceilings, if they were asked for
    CopyRates copies;     ///< of a GPU, with the ceilings
    std::string driver, runtime;
    std::string counters_refusal;
    FreeMemory free;
};

/// Asks a worker process, so that a driver that crashes does so there.
Examination examine(const std::string& device, bool ceilings);

/// The CPU and the GPUs; without any GPU one entry for GPU 0 that says why.
std::vector<Examination> examine_all(bool ceilings);

/// "nvcc 13.0 (/usr/local/cuda/bin/nvcc)", or why there is none.
std::string find_compiler();

}  // namespace espalier::bench
