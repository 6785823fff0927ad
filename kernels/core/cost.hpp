#pragma once

#include <algorithm>

#include "kernels/core/device_info.hpp"

namespace espalier {

/// The least work that any variant of a family must do for a problem: what its roofline is drawn from.
struct Cost {
    double bytes = 0;     ///< each input read once, each output written once
    double fp32_ops = 0;  ///< single-precision operations, a multiply-add counted as two
    double int_ops = 0;   ///< integer operations

    [[nodiscard]] double ops() const { return fp32_ops + int_ops; }

    /// Seconds that the device's measured ceilings allow at best; 0 where they are unknown.
    [[nodiscard]] double roofline_seconds(const DeviceInfo& device) const {
        const auto share = [](double amount, double rate) { return rate > 0 ? amount / rate : 0.0; };
        return std::max({share(bytes, device.bytes_per_second), share(fp32_ops, device.fp32_per_second),
                         share(int_ops, device.int_per_second)});
    }
};

}  // namespace espalier
