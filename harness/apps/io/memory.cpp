#include "harness/apps/io/memory.hpp"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>

namespace espalier::bench::io {
namespace {

std::size_t of_the_machine() {
    std::ifstream information("/proc/meminfo");
    for (std::string name, line; information >> name; std::getline(information, line)) {
        std::size_t kibibytes = 0;
        if (name == "MemAvailable:" && information >> kibibytes) return kibibytes * 1024;
    }
    return SIZE_MAX;
}

/// A container's limit, whole: what it counts as used includes caches that it would drop.
std::size_t of_the_control_group() {
    std::size_t limit = 0;
    return std::ifstream("/sys/fs/cgroup/memory.max") >> limit ? limit : SIZE_MAX;  // "max" is no number
}

}  // namespace

std::size_t available_memory() { return std::min(of_the_machine(), of_the_control_group()); }

}  // namespace espalier::bench::io
