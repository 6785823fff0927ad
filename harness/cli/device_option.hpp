#pragma once

#include <filesystem>
#include <string>

#include "espalier/device.hpp"
#include "espalier/error.hpp"
#include "espalier/explanation.hpp"
#include "harness/cli/command.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench::cli {

/// The help of an option whose value `device_of` reads. Every command reads a device that computes in this way; those
/// that measure take several, too (`devices_named`).
inline constexpr const char* kDeviceHelp =
    "auto, cpu, a GPU as 0 or cuda:0, or executor (GPU code on the CPU, for tests)";

/// The device that a user names. Throws Failure: no_device if it is not there, usage if it is no device.
Device device_of(const std::string& name);

/// A device of this machine by name or key, or one that is described by its folder of results. Throws Failure.
DeviceInfo described_device(const std::string& name, const std::filesystem::path& results);

/// The exit code that an error of the library means.
ExitCode exit_code_of(ErrorCode code);

/// What an explanation says that runs: "knn/cpu_two_stage (budget_mib=64)".
std::string what_runs(const Explanation& explanation);
std::string what_runs(const std::string& variant, const std::string& configuration);

/// Throws the library's error as a Failure; returns its value otherwise.
template <class T>
T value_or_fail(Result<T> result) {
    if (!result) throw Failure(exit_code_of(result.error().code), result.error().message);
    return std::move(result).value();
}
inline void succeed_or_fail(const Result<void>& result) {
    if (!result) throw Failure(exit_code_of(result.error().code), result.error().message);
}

}  // namespace espalier::bench::cli
