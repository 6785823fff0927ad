#include "harness/bench/profile/timeline.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "harness/base/range.hpp"
#include "harness/bench/profile/activity.hpp"

namespace espalier::device {
namespace {

constexpr std::uint32_t kStreams = 1'000'000;  // tracks of streams are numbered from here, behind those of threads

struct Event {
    std::string name;
    std::uint64_t begin_ns = 0, end_ns = 0;
    long thread = 0;
};

struct Kept {
    std::mutex mutex;
    std::string file;
    std::vector<Event> events;
    std::unique_ptr<ActivityTrace> trace;
    std::string no_trace;  ///< why there is none
    std::set<std::uint32_t> streams;
    bool begun = false;  ///< the process' own first lines are written
};
Kept& kept() {
    static auto* all = new Kept;  // outlives whatever ends late
    return *all;
}
std::atomic<bool> is_kept{false};

/// That of CUPTI's records, where it is there.
std::uint64_t now_ns() {
    if (const std::uint64_t ns = activity_clock_ns()) return ns;
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
            .count());
}

void keep(std::string name, std::uint64_t begin_ns, std::uint64_t end_ns) {
    const std::lock_guard lock(kept().mutex);
    kept().events.push_back({std::move(name), begin_ns, end_ns, static_cast<long>(gettid())});
}

std::string quoted(const std::string& text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string microseconds(std::uint64_t ns) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", static_cast<double>(ns) / 1000);
    return text;
}

/// A line that names one of the tracks, or the process.
std::string naming(const char* what, std::uint64_t track, const std::string& name) {
    return "{\"ph\":\"M\",\"name\":" + quoted(what) + ",\"pid\":" + std::to_string(getpid()) +
           ",\"tid\":" + std::to_string(track) + ",\"args\":{\"name\":" + quoted(name) + "}},\n";
}

std::string line(const char* category, const std::string& name, std::uint64_t begin_ns, std::uint64_t end_ns,
                 std::uint64_t track, const std::string& more = "") {
    return "{\"ph\":\"X\",\"cat\":" + quoted(category) + ",\"name\":" + quoted(name) +
           ",\"pid\":" + std::to_string(getpid()) + ",\"tid\":" + std::to_string(track) +
           ",\"ts\":" + microseconds(begin_ns) + ",\"dur\":" + microseconds(end_ns - begin_ns) + more + "},\n";
}

std::string line(const Activity& one) {
    const std::uint64_t track = std::uint64_t{kStreams} + one.stream;
    if (!one.is_kernel) return line("copy", one.name, one.start_ns, one.end_ns, track);
    return line("kernel", one.name, one.start_ns, one.end_ns, track,
                ",\"args\":{\"blocks\":" + std::to_string(one.blocks) + ",\"threads\":" +
                    std::to_string(one.block_size) + ",\"registers\":" + std::to_string(one.registers) +
                    ",\"shared_bytes\":" + std::to_string(one.static_shared_bytes + one.dynamic_shared_bytes) + "}");
}

/// In one piece: several processes append to the file.
bool append(const std::string& file, std::string lines) {
    const int to = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (to < 0) return false;
    if (lseek(to, 0, SEEK_END) == 0) lines = "[\n" + lines;
    const bool whole = write(to, lines.data(), lines.size()) == static_cast<ssize_t>(lines.size());
    return close(to) == 0 && whole;
}

}  // namespace

void trace_device_for_timeline() {
    if (!is_kept) return;
    Kept& all = kept();
    const std::lock_guard lock(all.mutex);
    if (all.trace) return;
    std::string reason;
    all.trace = trace_activity(reason);
    if (!all.trace) all.no_trace = ", without kernels: " + reason;
}

void begin_timeline(const std::string& file) {
    Kept& all = kept();
    const std::lock_guard lock(all.mutex);
    all.file = file;
    is_kept = true;
}

bool write_timeline() {
    if (!is_kept) return true;
    Kept& all = kept();
    const std::lock_guard lock(all.mutex);
    std::string lines;
    for (const Event& event : all.events)
        lines += line("range", event.name, event.begin_ns, event.end_ns, static_cast<std::uint64_t>(event.thread));
    all.events.clear();
    if (all.trace)
        for (const Activity& one : all.trace->take()) {
            if (all.streams.insert(one.stream).second)
                lines += naming("thread_name", kStreams + one.stream, "GPU stream " + std::to_string(one.stream));
            lines += line(one);
        }
    if (lines.empty()) return true;
    if (!all.begun) lines = naming("process_name", 0, "espalier" + all.no_trace) + lines;
    all.begun = true;
    return append(all.file, std::move(lines));
}

Range::Range(std::string name) : name_(std::move(name)) {
    push_nvtx_range(name_.c_str());
    if (is_kept) begin_ns_ = now_ns();
}

Range::~Range() {
    pop_nvtx_range();
    if (begin_ns_ > 0) keep(std::move(name_), begin_ns_, now_ns());
}

void mark(const char* name) {
    mark_nvtx(name);
    if (!is_kept) return;
    const std::uint64_t now = now_ns();
    keep(name, now, now);
}

}  // namespace espalier::device
