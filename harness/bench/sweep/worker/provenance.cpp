#include "harness/bench/sweep/worker/provenance.hpp"

#include <sys/utsname.h>

#include <cstdint>
#include <ctime>
#include <fstream>
#include <random>

#include "harness/bench/profile/ceilings.hpp"
#include "kernels/device/kernel_module.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

std::size_t available_host_bytes() {
    std::ifstream file("/proc/meminfo");
    for (std::string name; file >> name;) {
        std::size_t kilobytes = 0;
        if (name == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
        file.ignore(1024, '\n');
    }
    return SIZE_MAX;
}

}  // namespace

std::string driver_version(const DeviceInfo& device) {
    if (device.kind == DeviceKind::cuda) {
        const std::string version = device::kernel_module_version();
        return version.empty() ? device::gpu_driver_version() : version;
    }
    utsname system{};
    return uname(&system) == 0 ? std::string(system.sysname) + " " + system.release : "unknown";
}

std::string runtime_version(const DeviceInfo& device) {
    if (device.kind == DeviceKind::cuda) return device::gpu_runtime_version();
    return ESPALIER_COMPILER;
}

std::string build_identity() { return ESPALIER_BUILD; }

FreeMemory free_memory(const DeviceInfo& device) {
    const std::size_t host = available_host_bytes();
    if (device.kind == DeviceKind::cpu) return {host, host};
    // Less what flushing the cache and the kernels' own local memory take.
    const std::size_t reserve = 2 * device.l2_bytes + (std::size_t{256} << 20);
    const std::size_t free = device::memory_state().free;
    return {free > reserve ? free - reserve : 0, host};
}

std::string new_session() {
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[48];
    const std::size_t length = std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
    std::snprintf(text + length, sizeof text - length, "-%08x", std::random_device{}());
    return text;
}

}  // namespace espalier::bench
