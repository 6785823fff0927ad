#pragma once

#include <cstdint>
#include <string>

namespace espalier::device {

/// The current GPU's clocks and what holds them back, from NVML.
struct ClockState {
    bool known = false;
    double sm_mhz = 0;
    double temperature_c = 0;
    std::uint64_t throttle_reasons = 0;  ///< NVML's bits

    /// Slowed down by heat or the power supply: what is timed now is not what the device can do. A power
    /// cap is not meant: heavy kernels meet it on a healthy device.
    [[nodiscard]] bool slowed_down() const {
        constexpr std::uint64_t kHwSlowdown = 0x8, kSwThermal = 0x20, kHwThermal = 0x40, kHwPowerBrake = 0x80;
        return throttle_reasons & (kHwSlowdown | kSwThermal | kHwThermal | kHwPowerBrake);
    }
};

/// Unknown where NVML is missing, refuses, or there is no GPU; asking then costs nothing.
ClockState read_clocks();

}  // namespace espalier::device
