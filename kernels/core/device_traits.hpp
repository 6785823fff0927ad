#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "kernels/core/isa.hpp"

namespace espalier {

inline constexpr int kUnknownSize = std::numeric_limits<int>::min();

/// The logarithm of a size to base 2 in sixteenths, rounded to the nearest; kUnknownSize of what is not positive. By
/// comparisons: at compile time for trees that are compiled in, and the same whatever a C library rounds.
constexpr int log2_sixteenths(double size) {
    if (!(size > 0)) return kUnknownSize;
    // 2^((2 i + 1) / 32), where the nearest sixteenth changes.
    constexpr std::array kNext{1.0218971486541166, 1.0671404006768237, 1.1143867425958924, 1.1637248587775775,
                               1.215247359980469,  1.2690509571917332, 1.3252366431597413, 1.383909881963832,
                               1.4451808069770467, 1.5091644275934228, 1.5759808451078865, 1.645755478153965,
                               1.718619298122478,  1.7947090750031072, 1.8741676341103,    1.9571441241754002};
    const auto bits = std::bit_cast<std::uint64_t>(size);
    const double part = std::bit_cast<double>((bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1023} << 52);
    int sixteenths = 0;  // of part, which is in [1, 2)
    for (const double next : kNext) sixteenths += part > next ? 1 : 0;
    return 16 * (static_cast<int>(bits >> 52) - 1023) + sixteenths;
}

/// Traits by which two devices are alike or not; a selector carries those of the device that it was trained on. Members
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

    // The compared values, taken once from the sizes above: they are given when an object is made, and not changed.
    int log_threads = log2_sixteenths(threads);
    int log_sm_count = log2_sixteenths(sm_count);
    int log_shared = log2_sixteenths(static_cast<double>(shared_per_block));
    int log_l2 = log2_sixteenths(static_cast<double>(l2_bytes));
    int log_bandwidth = log2_sixteenths(bytes_per_second);
};

/// The numbers of a device that its traits are made of.
struct DeviceNumbers {
    DeviceKind kind = DeviceKind::cpu;
    Isa isa = Isa::generic;
    int threads = 0, sm = 0, sm_count = 0;
    std::size_t shared_per_block = 0, l2_bytes = 0;
    double bytes_per_second = 0;

    friend bool operator==(const DeviceNumbers&, const DeviceNumbers&) = default;
};

/// A call that runs on fewer threads than the device has asks the device's trees all the same: what it chooses, and so
/// its result's bits, are the same on any number of them.
inline DeviceNumbers numbers_of(const DeviceInfo& device) {
    if (device.kind == DeviceKind::cpu)
        return {.kind = DeviceKind::cpu,
                .isa = isa_of(device),
                .threads = device.all_threads > 0 ? device.all_threads : device.threads};
    return {.kind = DeviceKind::cuda,
            .sm = device.sm,
            .sm_count = device.sm_count,
            .shared_per_block = device.shared_per_block_optin,
            .l2_bytes = device.l2_bytes,
            .bytes_per_second =
                device.nominal_bytes_per_second > 0 ? device.nominal_bytes_per_second : device.bytes_per_second};
}

/// The views in it live as long as `device`.
inline DeviceTraits traits_of(const DeviceInfo& device) {
    const DeviceNumbers numbers = numbers_of(device);
    const bool cpu = device.kind == DeviceKind::cpu;
    return {.kind = numbers.kind,
            .isa = numbers.isa,
            .microarchitecture = cpu ? std::string_view(device.microarchitecture) : std::string_view(),
            .threads = numbers.threads,
            .sm = numbers.sm,
            .sm_count = numbers.sm_count,
            .shared_per_block = numbers.shared_per_block,
            .l2_bytes = numbers.l2_bytes,
            .bytes_per_second = numbers.bytes_per_second};
}

}  // namespace espalier
