#include "harness/device/host_cpu.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

namespace espalier::device {
namespace {

std::string model_name() {
    std::ifstream cpuinfo("/proc/cpuinfo");
    for (std::string line; std::getline(cpuinfo, line);)
        if (line.starts_with("model name"))
            if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
    return "unknown processor";
}

int usable_threads() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

std::size_t positive(long value) { return value > 0 ? static_cast<std::size_t>(value) : 0; }

}  // namespace

DeviceInfo describe_cpu() {
    DeviceInfo info;
    info.kind = DeviceKind::cpu;
    info.name = model_name();
    info.threads = usable_threads();
#if defined(__x86_64__)
    info.avx2 = __builtin_cpu_supports("avx2");
    info.fma = __builtin_cpu_supports("fma");
    info.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    info.avx512_vnni = info.avx512 && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vbmi");
#endif
    info.memory_bytes = positive(sysconf(_SC_PHYS_PAGES)) * positive(sysconf(_SC_PAGESIZE));
    info.l2_bytes = positive(sysconf(_SC_LEVEL3_CACHE_SIZE));
    if (info.l2_bytes == 0) info.l2_bytes = positive(sysconf(_SC_LEVEL2_CACHE_SIZE));
#if defined(__aarch64__)
    const char* isa = "neon";  // a part of the architecture
#else
    const char* isa = info.avx512 ? "avx512" : info.avx2 && info.fma ? "avx2" : "generic";
#endif
    info.key = std::string("cpu-") + isa + "-" + std::to_string(info.threads) + "t";
    return info;
}

}  // namespace espalier::device
