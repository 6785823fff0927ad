#pragma once

#include <string>

#include "espalier/error.hpp"
#include "espalier/export.hpp"

namespace espalier::inline v1 {

struct DeviceState;

/// Where work runs: this machine's CPU or one of its GPUs. A handle as small as a pointer; what it
/// refers to is found out once and lives as long as the program, so handles may be copied, shared
/// between threads and kept in static variables.
///
/// No member throws. If memory does not suffice to describe the CPU, the handle is valid all the same: `key`, `name`
/// and `description` are "out of memory", calls return that error, and both try again the next time.
class ESPALIER_API Device {
public:
    /// This machine's CPU.
    static Device cpu() noexcept;

    /// GPU `ordinal`, counted as the CUDA runtime counts (CUDA_VISIBLE_DEVICES applies).
    /// Errors: no_device with the reason when there is none, no driver, or a library built without CUDA.
    static Result<Device> cuda(int ordinal = 0);

    /// The first GPU if one is usable, else the CPU. Without memory to open a GPU, none is.
    static Device best() noexcept;

    [[nodiscard]] bool is_cuda() const noexcept;             ///< whether it is a GPU
    [[nodiscard]] int ordinal() const noexcept;              ///< -1 for the CPU
    [[nodiscard]] const std::string& key() const noexcept;   ///< what selectors are filed under, e.g. "nvidia-h200"
    [[nodiscard]] const std::string& name() const noexcept;  ///< as the driver or the operating system spells it

    /// One line for people: name, key, and what selectors look at.
    [[nodiscard]] const std::string& description() const noexcept;

    /// Whether both are the same device.
    friend bool operator==(const Device&, const Device&) = default;

private:
    friend const DeviceState& state_of(const Device&);
    explicit Device(const DeviceState* state) : state_(state) {}
    const DeviceState* state_;  ///< null for the CPU
};

}  // namespace espalier::inline v1
