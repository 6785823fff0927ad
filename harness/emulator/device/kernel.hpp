#pragma once

// The names that a kernel's source may use, for the host compiler. The twin of this header in device/cuda gives
// the same names to nvcc; a variant includes "device/kernel.hpp" and the include path chooses.

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "harness/emulator/arithmetic.hpp"
#include "harness/emulator/atomics.hpp"
#include "harness/emulator/errors.hpp"
#include "harness/emulator/geometry.hpp"
#include "harness/emulator/kernel_side.hpp"
#include "harness/emulator/launch.hpp"
#include "harness/emulator/limits.hpp"
#include "harness/emulator/vector_types.hpp"
#include "harness/emulator/warp.hpp"
#include "kernels/device/runtime.hpp"

// CUDA's keywords cannot be names.
#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ \
    static_assert(false, "write auto& tile = shared<float[16][17], struct Tile>(); instead of __shared__");

// Types that calls of CUDA's libraries return and take.
enum cudaError_t { cudaSuccess = 0, cudaErrorNotSupported = 801 };
using cudaStream_t = espalier::Stream;

namespace espalier::device {

/// Throws DeviceError if `status` is a failure; `what` names the call.
inline void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) host::throw_error(static_cast<host::CudaError>(status), what);
}

/// Static shared memory: `auto& tile = shared<float[16][17], struct QueryTile>();`
/// Two arrays of one type need two tags.
template <class T, class Tag = void>
T& shared() {
    static constexpr char key = 0;
    return *static_cast<T*>(host::static_shared({&key, __PRETTY_FUNCTION__, sizeof(T), alignof(T)}));
}

/// Dynamic shared memory, as many bytes as the launch asked for, 16-byte aligned.
template <class T>
T* dynamic_shared() {
    return static_cast<T*>(host::dynamic_shared_memory());
}

/// The grid of a launch, and where in the source the launch is.
struct Grid {
    dim3 size;
    host::Site location;

    Grid(dim3 blocks, host::Site at = host::Site::current()) : size(blocks), location(at) {}
    Grid(unsigned blocks, host::Site at = host::Site::current()) : size(blocks), location(at) {}
};

/// kernel<<<grid, block, shared_bytes, stream>>>(args...), run to its end before it returns.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), Grid grid, dim3 block, std::size_t shared_bytes, Stream,
            Arguments&&... arguments) {
    static_assert((std::size_t{0} + ... + sizeof(Parameters)) <= host::kParameterBytes,
                  "a kernel takes at most 32,764 bytes of arguments");
    using Bound = std::pair<void (*)(Parameters...), std::tuple<Parameters...>>;
    const Bound bound(kernel, std::tuple<Parameters...>(static_cast<Parameters>(arguments)...));
    const auto call = [](const void* data) {
        const auto& [function, values] = *static_cast<const Bound*>(data);
        std::apply(function, values);
    };
    host::execute({reinterpret_cast<const void*>(kernel), grid.size, block, shared_bytes, grid.location},
                  {call, &bound, sizeof bound});
}

/// Nothing: there are no caches to divide.
template <class... Parameters>
void prefer_shared_memory(void (*)(Parameters...), int) {}

/// Copies to a `__constant__` symbol, in stream order.
template <class T>
void copy_to_constant(T& symbol, const void* from, std::size_t bytes, Stream) {
    host::write_constant(&symbol, sizeof symbol, from, bytes);
}

}  // namespace espalier::device
