#include "kernels/device/host_cpu.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "kernels/core/isa.hpp"
#include "kernels/device/cpu_limits.hpp"
#include "kernels/device/microarchitecture.hpp"
#include "kernels/device/next_line.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#endif

namespace espalier::device {
namespace {

/// The value of the first line of /proc/cpuinfo that begins with `label`; empty if there is none.
std::string cpuinfo(std::string_view label) {
    std::ifstream file = open_text("/proc/cpuinfo");
    for (std::string line; next_line(file, line);)
        if (line.starts_with(label))
            if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
    return {};
}

#if defined(__x86_64__)

constexpr unsigned kAmxBf16 = 22, kAmxTiles = 24;

/// What cpuid says of an extended feature.
bool has_feature(unsigned bit) {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx >> bit & 1);
}

/// Whether the system keeps matrix registers for a thread: Linux since 5.16.
bool keeps_matrix_registers() {
    constexpr long kSupported = 0x1021, kMatrixRegisters = 18;  // ARCH_GET_XCOMP_SUPP, XFEATURE_XTILEDATA
    std::uint64_t kept = 0;
    return syscall(SYS_arch_prctl, kSupported, &kept) == 0 && (kept >> kMatrixRegisters & 1);
}

void ask_instruction_sets(DeviceInfo& info) {
    info.avx2 = __builtin_cpu_supports("avx2");
    info.fma = __builtin_cpu_supports("fma");
    info.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    info.avx512_vnni = info.avx512 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi");
    info.amx_bf16 = info.avx512_vnni && has_feature(kAmxTiles) && has_feature(kAmxBf16) && keeps_matrix_registers();
}

/// Asks the processor itself: /proc/cpuinfo is the host's where another processor is emulated.
std::string microarchitecture_here() {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid(0, &eax, &ebx, &ecx, &edx)) return {};
    char vendor[12];
    std::memcpy(vendor, &ebx, 4);
    std::memcpy(vendor + 4, &edx, 4);
    std::memcpy(vendor + 8, &ecx, 4);
    if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return {};
    const unsigned family = eax >> 8 & 0xF, model = eax >> 4 & 0xF, stepping = eax & 0xF;
    const unsigned more_family = family == 0xF ? eax >> 20 & 0xFF : 0;
    const unsigned more_model = family == 0xF || family == 6 ? eax >> 16 & 0xF : 0;
    return microarchitecture({{vendor, sizeof vendor},
                              static_cast<int>(family + more_family),
                              static_cast<int>(more_model << 4 | model),
                              static_cast<int>(stepping),
                              has_feature(kAmxTiles)});
}

std::string model_name() { return cpuinfo("model name"); }

#else

void ask_instruction_sets(DeviceInfo& info) {
#if defined(__aarch64__)
    info.neon = true;  // part of the architecture
#else
    static_cast<void>(info);
#endif
}

std::string microarchitecture_here() {
    const std::string maker = cpuinfo("CPU implementer"), part = cpuinfo("CPU part");
    return part.empty() ? std::string{}
                        : microarchitecture({maker, 0, static_cast<int>(std::strtol(part.c_str(), nullptr, 0)), 0});
}

std::string model_name() { return microarchitecture_here(); }

#endif

std::size_t positive(long value) { return value > 0 ? static_cast<std::size_t>(value) : 0; }

void narrow_as_asked(DeviceInfo& info) {
    const char* text = std::getenv(kCpuIsaVariable);
    const auto most = parse_isa(text ? text : "");
    if (!most) return;
    const Isa before = isa_of(info);
    narrow(info, *most);
    if (isa_of(info) != before) info.name += ", narrowed to " + std::string(to_string(isa_of(info)));
}

}  // namespace

DeviceInfo describe_cpu() {
    DeviceInfo info;
    info.kind = DeviceKind::cpu;
    info.name = model_name();
    if (info.name.empty()) info.name = "unknown processor";
    info.threads = process_threads();
    ask_instruction_sets(info);
    narrow_as_asked(info);
    info.memory_bytes = positive(sysconf(_SC_PHYS_PAGES)) * positive(sysconf(_SC_PAGESIZE));
    info.l2_bytes = positive(sysconf(_SC_LEVEL3_CACHE_SIZE));
    if (info.l2_bytes == 0) info.l2_bytes = positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
    info.microarchitecture = microarchitecture_here();
    info.key = "cpu-" + (info.microarchitecture.empty() ? "unknown" : info.microarchitecture) + "-" +
               std::string(to_string(isa_of(info))) + "-" + std::to_string(info.threads) + "t";
    return info;
}

std::optional<std::string> wrong_cpu_isa() {
    const char* text = std::getenv(kCpuIsaVariable);
    if (!text || !*text || parse_isa(text)) return std::nullopt;
    std::string known;
    for (const std::string_view name : kIsaNames) known.append(known.empty() ? "" : ", ").append(name);
    return std::string(kCpuIsaVariable) + ": no instruction set is called '" + text + "'; use one of " + known +
           " or unset the variable";
}

}  // namespace espalier::device
