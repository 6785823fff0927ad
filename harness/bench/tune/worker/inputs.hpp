#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/bench/tune/describe/description.hpp"

namespace espalier::bench::tune {

/// The bytes of one argument for a problem, as the kernel finds them.
struct HostArgument {
    std::vector<std::byte> bytes;
    std::size_t elements = 0;  ///< components of vector types counted one by one; 1 for a scalar
};

/// How many bytes an argument has for a problem. Throws `BadData` where its size is no whole number from 1 on.
std::size_t bytes_of(const Description& description, const Argument& argument, std::size_t problem);

/// Its content: the same on every machine and in every process. Throws `BadData` for a value that its type does not
/// hold, and for a file of another length.
HostArgument make_argument(const Description& description, std::size_t argument, std::size_t problem);

/// Throws `BadData` if an argument of a problem has no size, or a scalar a value that its type does not hold: all that
/// can be known before anything is compiled. No more than `most_bytes` in all.
void check_arguments(const Description& description, std::size_t most_bytes);

}  // namespace espalier::bench::tune
