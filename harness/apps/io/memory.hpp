#pragma once

#include <cstddef>

namespace espalier::bench::io {

/// Bytes that can be taken without swapping, caches that the kernel would drop included; at most a control
/// group's limit. SIZE_MAX where the system does not tell.
std::size_t available_memory();

}  // namespace espalier::bench::io
