#pragma once

#include <cstddef>

/// Memory that runs out when a test says so: failing_memory.cpp takes the place of operator new and delete in the
/// program that it is linked into and, but under the sanitizers, of the C library's malloc.
namespace espalier::failing_memory {

/// Which allocations fail once the one that was asked for is reached.
enum class Failing {
    one,  ///< it alone
    all,  ///< it and all that follow
};

/// While it lives, the allocation numbered `first` (from 0) fails. What OpenMP's runtime allocates is neither counted
/// nor failed: it ends the program by itself.
class Shortage {
public:
    explicit Shortage(std::size_t first, Failing failing = Failing::one);
    ~Shortage();
    Shortage(const Shortage&) = delete;
    Shortage& operator=(const Shortage&) = delete;
};

/// Whether an allocation has failed since the last shortage began.
bool struck();

/// Blocks of operator new that were not given back so far.
std::ptrdiff_t live_blocks();

}  // namespace espalier::failing_memory
