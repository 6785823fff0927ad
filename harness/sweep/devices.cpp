#include "harness/sweep/devices.hpp"

#include <sched.h>

#include "harness/sweep/problem_run.hpp"
#include "harness/sweep/sweep.hpp"

namespace espalier {

std::vector<std::string> devices_named(const std::string& name) {
    if (name != "all") return {name};
    std::vector<std::string> devices{"cpu"};
    // Asking a worker each time keeps CUDA out of this process, which lives as long as the sweep.
    for (int gpu = 0;; ++gpu) {
        try {
            WorkerPool(std::to_string(gpu)).worker();
        } catch (const NoUsableDevice&) {
            return devices;
        }
        devices.push_back(std::to_string(gpu));
    }
}

void restrict_threads(int threads) {
    if (threads <= 0) return;
    cpu_set_t all;
    cpu_set_t some;
    CPU_ZERO(&some);
    if (sched_getaffinity(0, sizeof all, &all) != 0) return;
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&some) < threads; ++cpu)
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &some);
    if (CPU_COUNT(&some) < threads)
        throw NoUsableDevice("this process may use only " + std::to_string(CPU_COUNT(&all)) +
                             " processors: ask for no more --threads");
    sched_setaffinity(0, sizeof some, &some);
}

}  // namespace espalier
