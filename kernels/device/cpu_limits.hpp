#pragma once

#include <string>
#include <vector>

/// The limits of this process on the host's processors, and how many threads they leave it.
namespace espalier::device {

/// The CPUs, by ascending number, that the threads of this process may run on: of all threads that there were when this
/// code was loaded, or when it is asked first if that is earlier, and of OpenMP's places, whose binding narrows a
/// thread's own mask. A thread that pins itself later changes nothing. Empty where the system does not tell.
const std::vector<int>& process_cpus();

/// Gives the process these CPUs alone from now on: the calling thread, and what it starts, runs on them. For the
/// beginning of a program, before anything else asks. False, and nothing changes, if the system refuses.
bool confine_process(const std::vector<int>& cpus);

/// The CPUs that the calling thread may run on now.
std::vector<int> thread_cpus();

/// Lets the calling thread, and what it starts, run on all of `cpus`. False if the system refuses.
bool run_on(const std::vector<int>& cpus);

/// The share of the processors' time that control groups grant.
struct CpuQuota {
    double cpus = 0;   ///< time per time, 1.5 for one and a half CPUs; 0: no limit
    std::string file;  ///< that says so
};

/// The smallest quota of the control groups, version 1 or 2, that this process is in. `root` is put before every path.
CpuQuota cpu_quota(const std::string& root = {});

/// Threads that are worth starting: the CPUs, but no more than the quota rounded up. Rounded down, half a CPU's time
/// would be given away for good; rounded up, the last thread is stopped for a part of each period. At least 1.
int usable_threads(std::size_t cpus, const CpuQuota& quota);

/// `usable_threads` of this process: what the device key of its CPU counts. Its quota is read once.
int process_threads();

/// How CPUs belong together.
struct CpuTopology {
    int online = 0;          ///< CPUs of the host that are in use
    int cores = 0;           ///< of the CPUs asked for: fewer than these where two are siblings on one core (SMT)
    std::vector<int> nodes;  ///< NUMA nodes of the CPUs asked for
    int all_nodes = 0;       ///< NUMA nodes of the host that have CPUs
};

/// Asks the system about `cpus`; 0 and empty where it does not say. `root` is put before every path.
CpuTopology cpu_topology(const std::vector<int>& cpus, const std::string& root = {});

/// "0-3,8", as the kernel writes lists of CPUs.
std::string cpu_list(const std::vector<int>& cpus);

/// The numbers of such a list; what is none is left out.
std::vector<int> parse_cpu_list(const std::string& text);

}  // namespace espalier::device
