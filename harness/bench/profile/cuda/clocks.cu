// harness/bench/profile/clocks.hpp through NVML. The library comes with the driver and may be missing where a
// program was built or in a slim container, so it is loaded when first asked for.

#include <dlfcn.h>

#include <optional>
#include <string>

#include "device/kernel.hpp"
#include "harness/bench/profile/clocks.hpp"

namespace espalier::device {
namespace {

// From NVML's documentation; nvml.h is no part of the CUDA runtime's headers.
using NvmlDevice = struct nvmlDevice_st*;
constexpr int kSuccess = 0;
constexpr int kSmClock = 1;
constexpr int kGpuTemperature = 0;

struct Nvml {
    int (*clock)(NvmlDevice, int, unsigned*) = nullptr;
    int (*temperature)(NvmlDevice, int, unsigned*) = nullptr;
    int (*reasons)(NvmlDevice, unsigned long long*) = nullptr;
    NvmlDevice device = nullptr;
};

template <class Function>
bool load(void* library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(dlsym(library, name));
    return function != nullptr;
}

/// The handle of the current GPU: CUDA's ordinals may be permuted, its bus is the same for both.
std::optional<Nvml> connect() {
    void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return std::nullopt;
    int (*initialise)() = nullptr;
    int (*by_bus)(const char*, NvmlDevice*) = nullptr;
    Nvml nvml;
    if (!load(library, "nvmlInit_v2", initialise) || !load(library, "nvmlDeviceGetHandleByPciBusId_v2", by_bus) ||
        !load(library, "nvmlDeviceGetClockInfo", nvml.clock) ||
        !load(library, "nvmlDeviceGetTemperature", nvml.temperature) ||
        !load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.reasons) || initialise() != kSuccess)
        return std::nullopt;
    int ordinal = 0;
    char bus[32];
    check(cudaGetDevice(&ordinal), "cudaGetDevice");
    check(cudaDeviceGetPCIBusId(bus, sizeof bus, ordinal), "cudaDeviceGetPCIBusId");
    if (by_bus(bus, &nvml.device) != kSuccess) return std::nullopt;
    return nvml;
}

}  // namespace

ClockState read_clocks() {
    // A worker process has one GPU for life.
    static const std::optional<Nvml> nvml = connect();
    ClockState state;
    if (!nvml) return state;
    unsigned clock = 0, temperature = 0;
    unsigned long long reasons = 0;
    state.known = nvml->clock(nvml->device, kSmClock, &clock) == kSuccess &&
                  nvml->temperature(nvml->device, kGpuTemperature, &temperature) == kSuccess &&
                  nvml->reasons(nvml->device, &reasons) == kSuccess;
    if (!state.known) return {};
    state.sm_mhz = clock;
    state.temperature_c = temperature;
    state.throttle_reasons = reasons;
    return state;
}

}  // namespace espalier::device
