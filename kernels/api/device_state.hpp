#pragma once

#include "espalier/device.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::inline v0 {

/// What a `Device` refers to.
struct DeviceState {
    DeviceInfo info;
    int ordinal = -1;  ///< of a GPU
};

const DeviceState& state_of(const Device& device);

/// Makes a GPU the calling thread's current one and restores what was current before. Nothing for a CPU.
class CurrentDevice {
public:
    explicit CurrentDevice(const DeviceState& state);
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
    int previous_ = -1;
};

}  // namespace espalier::inline v0
