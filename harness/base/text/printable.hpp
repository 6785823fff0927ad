#pragma once

#include "kernels/core/printable.hpp"

namespace espalier::bench {

using espalier::printable;
using espalier::printable_lines;

}  // namespace espalier::bench
