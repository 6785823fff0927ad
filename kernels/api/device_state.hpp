#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "espalier/device.hpp"
#include "espalier/options.hpp"
#include "kernels/core/device_info.hpp"
#include "kernels/device/threads.hpp"

namespace espalier::inline v1 {

/// The state that a `Device` refers to.
struct DeviceState {
    explicit DeviceState(DeviceInfo described, int number = -1);

    DeviceInfo info;
    std::string description;  ///< one line for people
    int ordinal;              ///< of a GPU

    /// The device as a call on so many threads sees it. Lives as long as this; for a GPU `info`.
    [[nodiscard]] const DeviceInfo& on_threads(int threads) const;

private:
    DeviceInfo serial_;  ///< on one thread
    mutable std::mutex mutex_;
    mutable std::map<int, std::unique_ptr<const DeviceInfo>> others_;  ///< never removed
};

/// Describes the CPU when it is first asked for. Throws std::bad_alloc.
const DeviceState& state_of(const Device& device);

/// Threads of the host that a call with these options may run on now.
int threads_for(const DeviceState& device, const Options& options);

/// While it lives, loops over the host's threads run on as many as the options allow.
class HostThreads : device::TeamSize {
public:
    HostThreads(const DeviceState& device, const Options& options) : TeamSize(threads_for(device, options)) {}
};

/// Makes a GPU the calling thread's current one and restores what was current before. Nothing for a CPU.
class CurrentDevice {
public:
    explicit CurrentDevice(const DeviceState& state);
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
    int previous_ = -1;
};

}  // namespace espalier::inline v1
