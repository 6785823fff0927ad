#include "kernels/device/cpu_limits.hpp"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "kernels/device/next_line.hpp"

namespace espalier::device {
namespace {

namespace fs = std::filesystem;

constexpr int kMostCpus = 1 << 16;

std::vector<int> sorted(std::vector<int> numbers) {
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

void add(std::vector<int>& to, const std::vector<int>& more) { to.insert(to.end(), more.begin(), more.end()); }

std::string first_line(const fs::path& path) {
    std::ifstream file = open_text(path);
    std::string line;
    next_line(file, line);
    return line;
}

// Masks

/// The mask of a thread of this process; 0 is the calling one. The set grows until the kernel's own fits.
std::vector<int> cpus_of(pid_t thread) {
    std::vector<int> cpus;
    for (int size = CPU_SETSIZE; size <= kMostCpus; size *= 2) {
        cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(size));
        if (!set) return cpus;
        const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(size));
        CPU_ZERO_S(bytes, set);
        const bool known = sched_getaffinity(thread, bytes, set) == 0;
        for (int cpu = 0; known && cpu < size; ++cpu)
            if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set)) cpus.push_back(cpu);
        CPU_FREE(set);
        if (known || errno != EINVAL) return cpus;
    }
    return cpus;
}

std::vector<int> cpus_of_all_threads() {
    std::vector<int> cpus = cpus_of(0);
    std::error_code error;
    for (auto entry = fs::directory_iterator("/proc/self/task", error); !error && entry != fs::directory_iterator();
         entry.increment(error))
        add(cpus, cpus_of(std::atoi(entry->path().filename().c_str())));
    return cpus;
}

/// With OMP_PROC_BIND or OMP_PLACES OpenMP has bound the first thread to one place before this code was loaded.
std::vector<int> cpus_of_places() {
    std::vector<int> cpus;
    for (int place = 0; place < omp_get_num_places(); ++place) {
        std::vector<int> members(static_cast<std::size_t>(std::max(0, omp_get_place_num_procs(place))));
        if (!members.empty()) omp_get_place_proc_ids(place, members.data());
        add(cpus, members);
    }
    return cpus;
}

std::vector<int>& cpus_of_process() {
    static std::vector<int> cpus = [] {
        std::vector<int> all = cpus_of_all_threads();
        add(all, cpus_of_places());
        return sorted(std::move(all));
    }();
    return cpus;
}

/// Threads pin themselves later: what the process was given is asked as early as can be.
[[maybe_unused]] const bool asked_at_load = (process_cpus(), true);

// Control groups

/// mountinfo writes blanks and the like as \040.
std::string unescaped(std::string_view text) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            plain += static_cast<char>(std::strtol(std::string(text.substr(i + 1, 3)).c_str(), nullptr, 8));
            i += 3;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

bool has_word(const std::string& list, std::string_view word) {
    std::stringstream words(list);
    for (std::string each; next_line(words, each, ',');)
        if (each == word) return true;
    return false;
}

/// A hierarchy of control groups: where it is mounted, and which of its groups lies there.
struct Hierarchy {
    std::string root, mounted_at;
};

/// The hierarchy of version 2, or that of version 1 which shares out the CPUs' time.
std::optional<Hierarchy> hierarchy(const std::string& root, bool version_2) {
    std::ifstream file = open_text(root + "/proc/self/mountinfo");
    for (std::string line; next_line(file, line);) {
        const auto dash = line.find(" - ");
        if (dash == std::string::npos) continue;
        std::stringstream before(line.substr(0, dash)), after(line.substr(dash + 3));
        std::string skipped, group, place, type, source, options;
        for (std::string* word : {&skipped, &skipped, &skipped, &group, &place}) next_line(before, *word, ' ');
        for (std::string* word : {&type, &source, &options}) next_line(after, *word, ' ');
        if (version_2 ? type == "cgroup2" : type == "cgroup" && has_word(options, "cpu"))
            return Hierarchy{unescaped(group), unescaped(place)};
    }
    return std::nullopt;
}

/// The path of this process's group in a hierarchy, as /proc/self/cgroup has it.
std::optional<std::string> own_group(const std::string& root, bool version_2) {
    std::ifstream file = open_text(root + "/proc/self/cgroup");
    for (std::string line; next_line(file, line);) {
        const auto first = line.find(':'), second = line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (version_2 ? line.starts_with("0::") : has_word(controllers, "cpu")) return line.substr(second + 1);
    }
    return std::nullopt;
}

double number(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return end != text.c_str() && std::isfinite(value) ? value : 0;
}

double share(double quota, double period) { return quota > 0 && period > 0 ? quota / period : 0; }

/// The quota of one group: "150000 100000" or "max 100000" in version 2, two files in version 1, -1 for none.
CpuQuota quota_of(const fs::path& group, bool version_2) {
    if (version_2) {
        const fs::path file = group / "cpu.max";
        std::stringstream line(first_line(file));
        std::string quota, period;
        for (std::string* word : {&quota, &period}) next_line(line, *word, ' ');
        return {share(number(quota), number(period)), file.string()};
    }
    const fs::path file = group / "cpu.cfs_quota_us";
    return {share(number(first_line(file)), number(first_line(group / "cpu.cfs_period_us"))), file.string()};
}

/// A group's quota binds all that lie in it, so that every one on the way up counts.
CpuQuota least_quota(const std::string& root, bool version_2) {
    const auto mounted = hierarchy(root, version_2);
    const auto group = own_group(root, version_2);
    CpuQuota least;
    if (!mounted || !group) return least;
    // A container may see its host's path in /proc/self/cgroup and its own group where the hierarchy is mounted.
    std::string path = *group;
    if (mounted->root != "/" && path.starts_with(mounted->root)) path.erase(0, mounted->root.size());
    const fs::path top = root + mounted->mounted_at;
    fs::path at = path.find("/..") == std::string::npos ? fs::path(top.string() + "/" + path).lexically_normal() : top;
    if (!at.has_filename()) at = at.parent_path();
    if (std::error_code error; !fs::exists(at, error)) at = top;
    for (;; at = at.parent_path()) {
        const CpuQuota here = quota_of(at, version_2);
        if (here.cpus > 0 && (least.cpus == 0 || here.cpus < least.cpus)) least = here;
        if (at == top || at.string().size() <= top.string().size()) return least;
    }
}

}  // namespace

const std::vector<int>& process_cpus() { return cpus_of_process(); }

bool confine_process(const std::vector<int>& cpus) {
    if (!run_on(cpus)) return false;
    cpus_of_process() = cpus;
    return true;
}

std::vector<int> thread_cpus() { return cpus_of(0); }

bool run_on(const std::vector<int>& cpus) {
    if (cpus.empty()) return false;
    const auto size = static_cast<std::size_t>(*std::ranges::max_element(cpus)) + 1;
    cpu_set_t* const set = CPU_ALLOC(size);
    if (!set) return false;
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    CPU_ZERO_S(bytes, set);
    for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
    const bool done = sched_setaffinity(0, bytes, set) == 0;
    CPU_FREE(set);
    return done;
}

CpuQuota cpu_quota(const std::string& root) {
    const CpuQuota first = least_quota(root, false), second = least_quota(root, true);
    if (first.cpus == 0 || second.cpus == 0) return first.cpus == 0 ? second : first;
    return first.cpus < second.cpus ? first : second;
}

int usable_threads(std::size_t cpus, const CpuQuota& quota) {
    double most = static_cast<double>(cpus);
    if (quota.cpus > 0) most = std::min(most, std::ceil(quota.cpus));
    return static_cast<int>(std::clamp(most, 1.0, static_cast<double>(kMostCpus)));
}

int process_threads() {
    static const CpuQuota quota = cpu_quota();
    const std::size_t cpus = process_cpus().size();
    return usable_threads(cpus > 0 ? cpus : static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN))),
                          quota);
}

CpuTopology cpu_topology(const std::vector<int>& cpus, const std::string& root) {
    CpuTopology topology;
    const fs::path system = root + "/sys/devices/system";
    topology.online = static_cast<int>(parse_cpu_list(first_line(system / "cpu/online")).size());
    std::vector<std::string> cores;
    for (const int cpu : cpus)
        cores.push_back(first_line(system / ("cpu/cpu" + std::to_string(cpu)) / "topology/thread_siblings_list"));
    std::erase(cores, "");
    std::ranges::sort(cores);
    topology.cores = static_cast<int>(std::unique(cores.begin(), cores.end()) - cores.begin());
    for (const int node : parse_cpu_list(first_line(system / "node/online"))) {
        const auto members = parse_cpu_list(first_line(system / ("node/node" + std::to_string(node)) / "cpulist"));
        topology.all_nodes += members.empty() ? 0 : 1;
        if (std::ranges::find_first_of(members, cpus) != members.end()) topology.nodes.push_back(node);
    }
    return topology;
}

std::string cpu_list(const std::vector<int>& cpus) {
    std::string text;
    for (std::size_t i = 0; i < cpus.size();) {
        std::size_t last = i;
        while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
        text.append(text.empty() ? "" : ",").append(std::to_string(cpus[i]));
        if (last > i) text.append("-").append(std::to_string(cpus[last]));
        i = last + 1;
    }
    return text;
}

std::vector<int> parse_cpu_list(const std::string& text) {
    std::vector<int> cpus;
    std::stringstream ranges(text);
    for (std::string range; next_line(ranges, range, ',');) {
        int first = 0, last = 0;
        const char* const end = range.data() + range.size();
        auto read = std::from_chars(range.data(), end, first);
        if (read.ec != std::errc{} || first < 0) continue;
        last = first;
        if (read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
        for (int cpu = first; cpu <= std::min(last, kMostCpus); ++cpu) cpus.push_back(cpu);
    }
    return sorted(std::move(cpus));
}

}  // namespace espalier::device
