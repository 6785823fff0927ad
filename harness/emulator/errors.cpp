#include "harness/emulator/errors.hpp"

namespace espalier::device::host {
namespace {

const char* describe(CudaError error) {
    switch (error) {
        case CudaError::invalid_value: return "invalid argument (cudaErrorInvalidValue)";
        case CudaError::memory_allocation: return "out of memory (cudaErrorMemoryAllocation)";
        case CudaError::invalid_configuration: return "invalid configuration argument (cudaErrorInvalidConfiguration)";
        case CudaError::invalid_device: return "invalid device ordinal (cudaErrorInvalidDevice)";
        case CudaError::invalid_resource_handle: return "invalid resource handle (cudaErrorInvalidResourceHandle)";
        case CudaError::illegal_address: return "an illegal memory access was encountered (cudaErrorIllegalAddress)";
        case CudaError::launch_failure: return "unspecified launch failure (cudaErrorLaunchFailure)";
        case CudaError::not_supported: return "operation not supported (cudaErrorNotSupported)";
    }
    return "unknown error";
}

}  // namespace

void throw_error(CudaError error, const std::string& call) {
    throw DeviceError(call + ": " + describe(error), static_cast<int>(error));
}

void needs_a_gpu(const std::string& call) { throw_error(CudaError::not_supported, call + " needs a real GPU"); }

}  // namespace espalier::device::host
