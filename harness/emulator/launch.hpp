#pragma once

#include <cstddef>
#include <string>

#include "harness/emulator/geometry.hpp"
#include "harness/emulator/site.hpp"

namespace espalier::device::host {

/// The work of each thread of a launch: a function with its arguments bound.
struct ThreadBody {
    void (*call)(const void* bound) = nullptr;
    const void* bound = nullptr;
    std::size_t bound_bytes = 0;

    void operator()() const { call(bound); }
};

struct Launch {
    const void* kernel = nullptr;  ///< its address, for its name
    uint3 grid{1, 1, 1};
    uint3 block{1, 1, 1};
    std::size_t shared_bytes = 0;
    Site location = Site::current();
};

/// The kernel's name, or where it was launched if the program is stripped.
std::string kernel_name(const Launch& launch);

/// Runs a grid to its end on the calling thread. Throws DeviceError for a launch that the driver would
/// refuse, ExecutionFault for what the kernel does wrong, and whatever the kernel itself throws.
void execute(const Launch& launch, ThreadBody body);

/// Copies to a `__constant__` variable of `capacity` bytes; more than that is an error as on a GPU.
void write_constant(void* symbol, std::size_t capacity, const void* from, std::size_t bytes);

}  // namespace espalier::device::host
