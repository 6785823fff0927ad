#include "harness/bench/sweep/worker/processors.hpp"

#include <omp.h>

#include <algorithm>
#include <string>

#include "harness/bench/sweep/worker/devices.hpp"
#include "kernels/device/cpu_limits.hpp"

namespace espalier::bench {
namespace {

cpu_set_t set_of(const int* first, const int* last) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (; first != last; ++first) CPU_SET(*first, &set);
    return set;
}

}  // namespace

std::vector<int> members(const cpu_set_t& set) {
    std::vector<int> cpus;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

void restrict_threads(int threads) {
    const std::vector<int>& cpus = device::process_cpus();
    // OMP_PROC_BIND binds this thread to one place, and workers would inherit its mask.
    if (omp_get_num_places() > 0) device::run_on(cpus);
    if (threads <= 0) return;
    if (device::process_threads() < threads)
        throw NoUsableDevice("this process may use only " + std::to_string(device::process_threads()) +
                             " processors: ask for no more --threads");
    device::confine_process({cpus.begin(), cpus.begin() + threads});
}

ConfinedThread::ConfinedThread(const ProcessorShare& share) {
    if (share.parts <= 1 || sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    const std::vector<int> cpus = members(before_);
    const std::size_t size = std::max<std::size_t>(1, cpus.size() / share.parts);
    const std::size_t first = share.part % (cpus.size() / size) * size;
    const cpu_set_t some = set_of(cpus.data() + first, cpus.data() + first + size);
    confined_ = sched_setaffinity(0, sizeof some, &some) == 0;
}

ConfinedThread::~ConfinedThread() {
    if (confined_) sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace espalier::bench
