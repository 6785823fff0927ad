#include "kernels/device/threads.hpp"

#include <omp.h>
#include <pthread.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>

namespace espalier::device {
namespace {

std::atomic<bool> several_threads = false;  ///< when the process was about to fork
std::atomic<bool> forked = false;

/// A folder has a link for each of its folders, its name and itself: one call, no memory, no open file.
bool has_several_threads() {
    struct stat tasks {};
    return stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink != 3;
}

void before_fork() { several_threads = has_several_threads(); }
void in_child() {
    if (several_threads) forked = true;
}

[[maybe_unused]] const int watching_forks = pthread_atfork(before_fork, nullptr, in_child);

/// How many CPUs the calling thread may run on. With OMP_PROC_BIND, all of OpenMP's places: it moves its threads there.
int cpus_of_thread() {
    constexpr int kCallsPerQuestion = 64;
    thread_local int cpus = 0, calls = 0;
    if (calls-- == 0) {
        cpus = omp_get_num_procs();
        calls = kCallsPerQuestion - 1;
    }
    return cpus;
}

}  // namespace

bool forked_from_threads() { return forked.load(std::memory_order_relaxed); }

int allowed_threads(int asked, int most) {
    if (forked_from_threads() || omp_get_active_level() >= omp_get_max_active_levels()) return 1;
    const int limit = std::max(1, omp_get_thread_limit());
    if (asked > 0) return std::min(asked, limit);
    if (most <= 1) return 1;
    const int wanted = std::min({most, limit, omp_get_max_threads()});
    return wanted <= 1 ? 1 : std::max(1, std::min(wanted, cpus_of_thread()));
}

TeamSize::TeamSize(int threads) {
    const int now = omp_get_max_threads();
    if (now == threads) return;
    before_ = now;
    omp_set_num_threads(threads);
}

TeamSize::~TeamSize() {
    if (before_ > 0) omp_set_num_threads(before_);
}

}  // namespace espalier::device
