#pragma once

#include <string>

#include "harness/device/host/launch.hpp"

namespace espalier::device::host {

/// The kernel's demangled name from the program's symbol table (kernels are local symbols, which the
/// dynamic linker does not know), or the place of the launch if the program is stripped.
std::string kernel_name(const Launch& launch);

}  // namespace espalier::device::host
