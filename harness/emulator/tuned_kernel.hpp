#pragma once

// The host executor for a plain file of CUDA kernels, and the entries by which `espalier tune` launches one
// of them (harness/bench/tune/measure/emulated_source.cpp writes a file that includes this).

#include <array>

#include "device/kernel.hpp"

// A block runs alone on its OS thread, so that a static array is the block's. Most arrays have become the executor's
// before, between guard bands (harness/bench/tune/measure/emulated_source.cpp).
#undef __shared__
#define __shared__ static

namespace espalier::device::tuned {

template <class... Parameters>
void launch(void (*kernel)(Parameters...), const std::uint32_t* grid, const std::uint32_t* block, std::uint32_t shared,
            void** arguments) {
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        device::launch(kernel, dim3(grid[0], grid[1], grid[2]), dim3(block[0], block[1], block[2]), shared, nullptr,
                       *static_cast<Parameters*>(arguments[i])...);
    }
    (std::index_sequence_for<Parameters...>{});
}

/// How many parameters a kernel has, and the bytes of each.
template <class... Parameters>
constexpr auto parameters_of(void (*)(Parameters...)) {
    return std::array<std::uint32_t, sizeof...(Parameters) + 1>{sizeof...(Parameters), sizeof(Parameters)...};
}

}  // namespace espalier::device::tuned

// Macros of the source may have short names.
#define ESPALIER_TUNED_KERNEL(...)                                                                              \
    extern "C" __attribute__((visibility("default"))) void espalier_tuned_launch(                               \
        const std::uint32_t* espalier_grid, const std::uint32_t* espalier_block, std::uint32_t espalier_shared, \
        void** espalier_arguments) {                                                                            \
        espalier::device::tuned::launch(__VA_ARGS__, espalier_grid, espalier_block, espalier_shared,            \
                                        espalier_arguments);                                                    \
    }                                                                                                           \
    extern "C" __attribute__((visibility("default"))) const auto espalier_tuned_parameters =                    \
        espalier::device::tuned::parameters_of(__VA_ARGS__);
