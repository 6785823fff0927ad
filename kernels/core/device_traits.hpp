#pragma once

#include <cstddef>
#include <string_view>

#include "kernels/core/isa.hpp"

namespace espalier {

/// What the likeness of two devices is judged by; a selector carries that of the device that it was trained on. Members
/// of the other kind of device are as they are here, and so is what is not known.
struct DeviceTraits {
    DeviceKind kind = DeviceKind::cpu;

    // CPU
    Isa isa = Isa::generic;
    std::string_view microarchitecture{};
    int threads = 0;

    // GPU
    int sm = 0;  ///< compute capability, 90 for 9.0
    int sm_count = 0;
    std::size_t shared_per_block = 0;  ///< bytes, with opting in
    std::size_t l2_bytes = 0;
    double bytes_per_second = 0;  ///< of its memory
};

/// The views in it live as long as `device`. A call that runs on fewer threads than the device has asks the device's
/// trees all the same: what it chooses, and so its result's bits, are the same on any number of them.
inline DeviceTraits traits_of(const DeviceInfo& device) {
    if (device.kind == DeviceKind::cpu)
        return {.kind = DeviceKind::cpu,
                .isa = isa_of(device),
                .microarchitecture = device.microarchitecture,
                .threads = device.all_threads > 0 ? device.all_threads : device.threads};
    return {.kind = DeviceKind::cuda,
            .sm = device.sm,
            .sm_count = device.sm_count,
            .shared_per_block = device.shared_per_block_optin,
            .l2_bytes = device.l2_bytes,
            .bytes_per_second =
                device.nominal_bytes_per_second > 0 ? device.nominal_bytes_per_second : device.bytes_per_second};
}

}  // namespace espalier
