#pragma once

// The names that a kernel's source may use, for nvcc. The twin of this header in harness/emulator/ gives the same
// names to the host compiler; a variant includes "device/kernel.hpp" and the include path chooses.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/device/runtime.hpp"

namespace espalier::device {

/// Throws DeviceError if `status` is a failure; `what` names the call.
void check(cudaError_t status, const char* what);

/// Lets the kernel have so much dynamic shared memory beside its static shared memory: more than 48 KiB of both
/// together must be asked for, and a reset of the device forgets it. Any thread may call it.
void allow_shared_memory(const void* kernel, std::size_t dynamic_bytes);

/// Static shared memory: `auto& tile = shared<float[16][17], struct QueryTile>();`
/// Two arrays of one type need two tags. (A function instead of `__shared__` so that the host
/// executor owns the memory and can poison it and guard its ends.)
template <class T, class Tag = void>
__device__ T& shared() {
    __shared__ T storage;
    return storage;
}

/// Dynamic shared memory, as many bytes as the launch asked for, 16-byte aligned.
template <class T>
__device__ T* dynamic_shared() {
    extern __shared__ __align__(16) unsigned char storage_of_the_launch[];
    return reinterpret_cast<T*>(storage_of_the_launch);
}

/// kernel<<<grid, block, shared_bytes, stream>>>(args...), which is not C++, with all the shared memory that the device
/// has. Throws DeviceError if the launch is refused.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes, Stream stream,
            Arguments&&... arguments) {
    if (shared_bytes > 0) allow_shared_memory(reinterpret_cast<const void*>(kernel), shared_bytes);
    kernel<<<grid, block, shared_bytes, stream>>>(static_cast<Parameters>(arguments)...);
    check(cudaGetLastError(), "kernel launch");
}

/// Asks that so many percent of a multiprocessor's L1 memory be kept as shared memory while this kernel runs, from its
/// next launch on.
template <class... Parameters>
void prefer_shared_memory(void (*kernel)(Parameters...), int percent) {
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributePreferredSharedMemoryCarveout,
                               percent),
          "preferring shared memory");
}

/// Copies to a `__constant__` symbol, in stream order.
template <class T>
void copy_to_constant(T& symbol, const void* from, std::size_t bytes, Stream stream) {
    check(cudaMemcpyToSymbolAsync(symbol, from, bytes, 0, cudaMemcpyHostToDevice, stream), "copy to constant memory");
}

}  // namespace espalier::device
