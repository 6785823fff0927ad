#include "harness/cli/device_option.hpp"

#include <filesystem>
#include <string>

#include "harness/base/failure.hpp"
#include "harness/bench/profile/timeline.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/sweep/worker/devices.hpp"
#include "harness/cli/measured_devices.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/json/names.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

bool is_local_name(const std::string& name) {
    return name == "auto" || name == "cpu" || name == "executor" || gpu_ordinal(name);
}

/// For the timeline, if one is asked for.
Device traced(const Device& device) {
    if (device.is_cuda() && !state_of(device).info.emulated) {
        const CurrentDevice current(state_of(device));
        device::trace_device_for_timeline();
    }
    return device;
}

}  // namespace

Device device_of(const std::string& name) {
    if (name == "auto") return traced(Device::best());
    if (name == "cpu") return Device::cpu();
    const bool executor = name == "executor";
    const auto ordinal = gpu_ordinal(name);
    if (!executor && !ordinal) throw Failure(ExitCode::usage, "'" + name + "' is no device; use " + kDeviceHelp);
    const auto device = Device::cuda(executor ? 0 : *ordinal);
    // Without CUDA there is the executor alone, as GPU 0: another one is not missing, all are.
    const auto seen = device ? device : Device::cuda(0);
    const bool emulated = seen && state_of(seen.value()).info.emulated;
    if (emulated && !executor)
        throw Failure(ExitCode::no_device,
                      "this program was built without CUDA; use --device cpu, or build it with the preset cuda");
    if (!emulated && executor)
        throw Failure(ExitCode::no_device, "this program was built for GPUs; the executor is in the build preset host");
    return traced(value_or_fail(device));
}

DeviceInfo described_device(const std::string& name, const fs::path& results) {
    const auto here = [](const Device& device) {
        return state_of(device).on_threads(threads_for(state_of(device), {}));
    };
    if (is_local_name(name)) return here(device_of(name));
    if (!valid_device_key(name))
        throw Failure(ExitCode::usage,
                      "'" + name + "' is no device key: use one of " + listed_devices(results) + ", or " + kDeviceHelp);
    const fs::path folder = results / name;
    if (fs::exists(folder / "device.json")) return load_device(folder);
    for (const Device& local : {Device::best(), Device::cpu()})
        if (local.key() == name) return here(local);
    throw Failure(ExitCode::no_device, "there is no " + (folder / "device.json").string() +
                                           ": measure the device there with `espalier sweep`, or use one of " +
                                           listed_devices(results));
}

}  // namespace espalier::bench::cli
