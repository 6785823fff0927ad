#include "harness/cli/device_option.hpp"

#include "kernels/api/device_state.hpp"

namespace espalier::bench::cli {
namespace {

int ordinal_of(const std::string& name) {
    if (name == "cuda") return 0;
    const std::string digits = name.substr(5);
    if (digits.empty() || digits.size() > 4 || digits.find_first_not_of("0123456789") != std::string::npos)
        throw Failure(ExitCode::usage, "'" + name + "' is no device: write cuda:0 for the first GPU");
    return std::stoi(digits);
}

}  // namespace

Device device_of(const std::string& name) {
    if (name == "auto") return Device::best();
    if (name == "cpu") return Device::cpu();
    const bool executor = name == "executor";
    if (!executor && name != "cuda" && !name.starts_with("cuda:"))
        throw Failure(ExitCode::usage, "'" + name + "' is no device; use " + kDeviceHelp);
    const Device device = value_or_fail(Device::cuda(executor ? 0 : ordinal_of(name)));
    const bool emulated = state_of(device).info.emulated;
    if (emulated && !executor)
        throw Failure(ExitCode::no_device,
                      "this program was built without CUDA; use --device cpu, or build it with the preset cuda");
    if (!emulated && executor)
        throw Failure(ExitCode::no_device, "this program was built for GPUs; the executor is in the build preset host");
    return device;
}

ExitCode exit_code_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
        case ErrorCode::unsupported:
        case ErrorCode::unknown_variant: return ExitCode::usage;
        case ErrorCode::no_device: return ExitCode::no_device;
        case ErrorCode::out_of_memory:
        case ErrorCode::device_failure:
        case ErrorCode::internal: break;
    }
    return ExitCode::bad_data;
}

}  // namespace espalier::bench::cli
