#pragma once

#include <source_location>
#include <string>

#include "harness/emulator/geometry.hpp"

namespace espalier::device::host {

std::string text(uint3 index);                       ///< "(3,0,0)"
std::string text(const std::source_location& site);  ///< "file:line"
std::string hexadecimal(unsigned mask);              ///< "0x0000ffff"

}  // namespace espalier::device::host
