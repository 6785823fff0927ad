#include "harness/cli/device_option.hpp"

#include "harness/sweep/devices.hpp"
#include "kernels/api/device_state.hpp"

namespace espalier::bench::cli {

Device device_of(const std::string& name) {
    if (name == "auto") return Device::best();
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
    return value_or_fail(device);
}

std::string what_runs(const Explanation& explanation) {
    return explanation.family + "/" + explanation.variant +
           (explanation.configuration == "default" ? "" : " (" + explanation.configuration + ")");
}

ExitCode exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
        case ErrorCode::unsupported:
        case ErrorCode::unknown_variant: return ExitCode::usage;
        case ErrorCode::no_device: return ExitCode::no_device;
        case ErrorCode::out_of_memory:
        case ErrorCode::device_failure:
        case ErrorCode::bad_file:
        case ErrorCode::internal: break;
    }
    return ExitCode::bad_data;
}

}  // namespace espalier::bench::cli
