#include "harness/bench/sweep/worker/processor_load.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include "harness/base/clock.hpp"
#include "harness/bench/sweep/worker/processors.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

constexpr double kLeastWatch = 0.5;  // seconds: fifty ticks of each processor

std::string read_text(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::optional<int> number(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::vector<int> usable_processors(pid_t process) {
    cpu_set_t set;
    if (sched_getaffinity(process, sizeof set, &set) != 0) return {};
    return members(set);
}

std::optional<ProcessTimes> times_of(pid_t process) {
    return parse_process_times(read_text("/proc/" + std::to_string(process) + "/stat"));
}

/// By the lists that the kernel keeps, where it does.
std::optional<std::vector<pid_t>> listed_children(pid_t process) {
    std::vector<pid_t> children;
    std::error_code error;
    bool known = false;
    for (const auto& thread : fs::directory_iterator("/proc/" + std::to_string(process) + "/task", error)) {
        std::ifstream file(thread.path() / "children");
        known |= file.is_open();
        for (pid_t child = 0; file >> child;) children.push_back(child);
    }
    return known ? std::optional(children) : std::nullopt;
}

double ticks_of_children(pid_t process) {
    double ticks = 0;
    if (const auto children = listed_children(process)) {
        for (const pid_t child : *children)
            if (const auto times = times_of(child)) ticks += times->ticks;
        return ticks;
    }
    std::error_code error;
    for (const auto& entry : fs::directory_iterator("/proc", error)) {
        if (!number(entry.path().filename().string())) continue;
        const auto times = parse_process_times(read_text(entry.path() / "stat"));
        if (times && times->parent == process) ticks += times->ticks;
    }
    return ticks;
}

}  // namespace

std::optional<Load> load_between(const LoadReading& from, const LoadReading& to) {
    const double all = to.all - from.all;
    if (!(all > 0)) return std::nullopt;
    const double foreign = (to.busy - from.busy) - (to.own - from.own);
    return Load{.seconds = to.at - from.at,
                .foreign_share = std::clamp(foreign / all, 0.0, 1.0),
                .steal_share = std::clamp((to.steal - from.steal) / all, 0.0, 1.0),
                .processors = to.processors};
}

LoadReading parse_processor_times(std::string_view stat, const std::vector<int>& processors) {
    LoadReading reading;
    std::istringstream lines{std::string(stat)};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        std::string label;
        double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
        if (!(fields >> label) || !label.starts_with("cpu")) continue;
        const auto processor = number(std::string_view(label).substr(3));
        if (!processor || !std::ranges::count(processors, *processor)) continue;
        if (!(fields >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal)) continue;
        const double busy = user + nice + system + irq + soft;
        reading.busy += busy;
        reading.steal += steal;
        reading.all += busy + idle + wait + steal;
        ++reading.processors;
    }
    return reading;
}

std::optional<ProcessTimes> parse_process_times(std::string_view stat) {
    // The program's name, in parentheses, may hold anything, parentheses and spaces too.
    const auto name_end = stat.rfind(')');
    if (name_end == std::string_view::npos) return std::nullopt;
    std::istringstream fields{std::string(stat.substr(name_end + 1))};
    ProcessTimes times;
    std::string skipped;
    fields >> skipped >> times.parent;  // 3 and 4: state, parent
    for (int field = 5; field < 14; ++field) fields >> skipped;
    double user = 0, system = 0, children_user = 0, children_system = 0;  // 14 to 17
    if (!(fields >> user >> system >> children_user >> children_system)) return std::nullopt;
    times.ticks = user + system + children_user + children_system;
    return times;
}

LoadReading read_load(pid_t sweep) {
    LoadReading reading = parse_processor_times(read_text("/proc/stat"), usable_processors(sweep));
    const auto own = times_of(sweep);
    reading.own = (own ? own->ticks : 0) + ticks_of_children(sweep);
    reading.at = steady_seconds();
    return reading;
}

void LoadHistory::add(const LoadReading& reading) {
    const auto enough = [&](const LoadReading& r) { return r.at + kLeastWatch <= reading.at; };
    // Of those that are old enough for all that is to come the latest will do.
    const auto last = std::find_if(readings_.rbegin(), readings_.rend(), enough).base();
    if (last != readings_.begin()) readings_.erase(readings_.begin(), std::prev(last));
    readings_.push_back(reading);
}

std::optional<LoadReading> LoadHistory::before(double at) const {
    if (readings_.empty()) return std::nullopt;
    const auto found = std::find_if(readings_.rbegin(), readings_.rend(),
                                    [&](const LoadReading& r) { return r.at + kLeastWatch <= at; });
    return found == readings_.rend() ? readings_.front() : *found;
}

}  // namespace espalier::bench
