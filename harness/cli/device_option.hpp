#pragma once

#include <filesystem>
#include <string>

#include "espalier/device.hpp"
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

}  // namespace espalier::bench::cli
