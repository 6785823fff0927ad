#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/bench/sweep/worker/devices.hpp"

namespace espalier::bench {

/// Another process measures on a device; `what()` names it and the fix.
class DeviceInUse : public NoUsableDevice {
    using NoUsableDevice::NoUsableDevice;
};

/// Where this user's programs tell each other what they use: in XDG_RUNTIME_DIR, in /run/user/<number>, or, where there
/// is neither, /tmp/espalier-<number>. Made if it is not there, for this user alone. Throws std::system_error.
std::filesystem::path runtime_folder();

/// Devices that this process measures on and that no other process of the same user may measure on meanwhile: their
/// times would disturb each other. The system's locks on files are used, which end with their process however it ends,
/// so that nothing is ever left behind that had to be cleared away.
class DeviceLock {
public:
    explicit DeviceLock(std::filesystem::path folder) : folder_(std::move(folder)) {}
    ~DeviceLock();
    DeviceLock(const DeviceLock&) = delete;
    DeviceLock& operator=(const DeviceLock&) = delete;

    /// Takes one GPU, or one instance of it. Throws `DeviceInUse`, and std::system_error if the lock cannot be asked
    /// for.
    void take_gpu(const std::string& uuid, const std::string& key);

    /// Takes CPUs, whose number is what tells them apart: sweeps of different ones may run beside each other. Throws
    /// as `take_gpu` does.
    void take_cpus(const std::vector<int>& cpus, const std::string& key);

private:
    int open_file(const std::string& name);

    std::filesystem::path folder_;
    std::vector<int> files_;
};

}  // namespace espalier::bench
