#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/bench/tune/space/launch.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench::tune {

/// A compiled configuration, loaded into this process for the current device.
class Module {
public:
    virtual ~Module() = default;

    /// Enqueues a launch on the default stream. `arguments` point at each argument's value. Throws
    /// `device::DeviceError`.
    virtual void launch(const LaunchShape& shape, void** arguments) = 0;

    /// A `__constant__` variable of the module; null if it has none of that name, or a smaller one.
    virtual void* symbol(const std::string& name, std::size_t bytes) = 0;
    /// Whether such variables are in this process's own memory.
    [[nodiscard]] virtual bool symbols_on_host() const = 0;

    /// The bytes of each of the kernel's parameters; empty if nobody can tell.
    virtual std::vector<std::size_t> parameter_bytes() = 0;
};

/// Loads `file`, machine code of a GPU or a shared library for the host executor, with the kernel of this (mangled)
/// name. Throws `device::DeviceError`.
std::unique_ptr<Module> load_module(const DeviceInfo& device, const std::filesystem::path& file,
                                    const std::string& kernel);

std::unique_ptr<Module> load_cuda_module(const std::filesystem::path& file, const std::string& kernel);
std::unique_ptr<Module> load_emulated_module(const std::filesystem::path& file);

}  // namespace espalier::bench::tune
