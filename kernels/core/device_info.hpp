#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace espalier {

enum class DeviceKind { cpu, cuda };

/// The facts of a device that selectors, `supports()` predicates and rooflines may ask for. A plain description:
/// the one of a device that is not here is read from `results/<device-key>/device.json`.
struct DeviceInfo {
    DeviceKind kind = DeviceKind::cpu;
    std::string key;        ///< slug that results are filed under, e.g. "nvidia-h200", "cpu-zen4-avx2-2t"
    std::string name;       ///< as the driver or the operating system spells it
    bool emulated = false;  ///< the host executor: runs CUDA sources for tests and is never timed
    std::size_t memory_bytes = 0;
    std::size_t l2_bytes = 0;  ///< device-wide L2; on a CPU the last-level cache

    // Ceilings for the roofline, measured on the device itself; 0 when unknown.
    double bytes_per_second = 0;         ///< from and to main memory
    double cached_bytes_per_second = 0;  ///< reads that hit the smallest cache that all of them fit in
    double fp32_per_second = 0;          ///< single-precision operations, a fused multiply-add counted as two
    double int_per_second = 0;           ///< the fastest integer multiply-add it has (dp4a, VNNI), counted as two

    // CPU
    std::string microarchitecture{};  ///< "zen4", "intel-6-250"; empty if nobody recorded it
    int threads = 1;                  ///< that work may run on: what this process may use, or fewer for one call
    int all_threads = 0;              ///< where `threads` are those of one call, what this process may use; else 0
    bool avx2 = false;
    bool fma = false;
    bool avx512 = false;       ///< F, BW, DQ and VL together
    bool avx512_vnni = false;  ///< and VBMI
    bool amx_bf16 = false;     ///< and all of the above; the system knows of its registers
    bool neon = false;         ///< aarch64

    // CUDA
    std::string uuid{};  ///< of this very GPU, or of its instance (MIG); no part of what is recorded
    int sm = 0;          ///< compute capability, 90 for 9.0
    int sm_count = 0;
    double nominal_bytes_per_second = 0;  ///< of its memory, by clock and width of the bus; 0 when unknown
    int clock_khz = 0;
    int max_threads_per_sm = 0;
    int registers_per_sm = 0;
    std::size_t shared_per_block = 0;        ///< bytes without opting in
    std::size_t shared_per_block_optin = 0;  ///< bytes with cudaFuncSetAttribute
    std::size_t shared_per_sm = 0;
    std::size_t constant_bytes = 0;
    std::int64_t texture_1d_linear_floats = 0;  ///< elements of a 1-D linear texture of float
    std::int64_t texture_2d_width = 0;          ///< 2-D texture over pitched linear memory, in texels
    std::int64_t texture_2d_height = 0;
    std::int64_t texture_2d_pitch = 0;  ///< its largest row pitch in bytes
    int texture_pitch_alignment = 0;    ///< bytes that a row pitch must be a multiple of
};

}  // namespace espalier
