#pragma once

#include <string>

#include "harness/emulator/geometry.hpp"
#include "harness/emulator/site.hpp"

namespace espalier::device::host {

std::string text(uint3 index);           ///< "(3,0,0)"
std::string text(const Site& site);      ///< "file:line"
std::string hexadecimal(unsigned mask);  ///< "0x0000ffff"

}  // namespace espalier::device::host
