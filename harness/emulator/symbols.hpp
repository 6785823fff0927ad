#pragma once

#include <cstdint>
#include <string>

namespace espalier::device::host {

/// The demangled name of the function at `address`, local ones too, without its parameters; empty in a
/// stripped program.
std::string function_at(const void* address);

/// "file:line" of the kernel's source that the instruction belongs to, or "an unknown place" in a
/// program without debug information. Lines of the executor's own headers are passed over.
std::string line_at(std::uintptr_t instruction);

}  // namespace espalier::device::host
