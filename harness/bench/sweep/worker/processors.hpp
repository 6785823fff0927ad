#pragma once

#include <sched.h>

#include <cstddef>
#include <vector>

namespace espalier::bench {

/// The processors of a set, by number.
std::vector<int> members(const cpu_set_t& set);

/// Confines this process, and the workers that it starts, to its first `threads` processors; 0 leaves it all that it
/// has, whatever OpenMP bound its first thread to. Throws `NoUsableDevice` if there are fewer.
void restrict_threads(int threads);

/// One of several equal parts of the host's processors.
struct ProcessorShare {
    std::size_t part = 0, parts = 1;
};

/// While it lives, the calling thread, and what it starts, runs on a share of the processors that it may use, one at
/// the least. Workers that verify at the same time would otherwise each start a thread per processor and wait for each
/// other's: OpenMP reads the mask before a program's main begins, so that only its parent can set it.
class ConfinedThread {
public:
    explicit ConfinedThread(const ProcessorShare& share);
    ~ConfinedThread();
    ConfinedThread(const ConfinedThread&) = delete;
    ConfinedThread& operator=(const ConfinedThread&) = delete;

private:
    cpu_set_t before_;
    bool confined_ = false;
};

}  // namespace espalier::bench
