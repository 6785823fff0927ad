#pragma once

#include <string>

#include "kernels/device/runtime.hpp"

namespace espalier::device::host {

/// The failures of the CUDA runtime that the executor reproduces, with its own numbers.
enum class CudaError {
    invalid_value = 1,
    memory_allocation = 2,
    invalid_configuration = 9,
    invalid_device = 101,
    invalid_resource_handle = 400,
    illegal_address = 700,
    launch_failure = 719,
    not_supported = 801,
};

/// Throws DeviceError as the CUDA twin words it: call, driver's text, name of the error.
[[noreturn]] void throw_error(CudaError error, const std::string& call);

/// For what the executor cannot do: cudaErrorNotSupported.
[[noreturn]] void needs_a_gpu(const std::string& call);

}  // namespace espalier::device::host
