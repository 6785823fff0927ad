#include "kernels/dispatch/recorded_problems.hpp"

#include <pthread.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <sstream>
#include <tuple>
#include <utility>

#include "kernels/dispatch/appended_line.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostProblems = 100'000;  // held at once: about 20 MB

/// Of the recorder. A child that is forked while another thread holds it could never take it.
std::mutex recording_mutex;

class Recorder {
public:
    explicit Recorder(std::string path) : path_(std::move(path)) {
        pthread_atfork([] { recording_mutex.lock(); }, [] { recording_mutex.unlock(); }, forget_in_child);
        std::atexit(write_at_exit);
    }

    void add(const AskedProblem& asked, std::optional<double> nanoseconds) {
        Asked& of = asked_[{std::string(asked.family), asked.problem, std::string(asked.device), asked.threads,
                            asked.deterministic}];
        ++of.calls;
        if (nanoseconds) {
            ++of.timed;
            of.nanoseconds += *nanoseconds;
        }
        if (asked_.size() >= kMostProblems) write();
    }

    /// Nobody is left to tell of a file that cannot be written: the program's own results are not touched by it.
    void write() {
        if (asked_.empty()) return;
        std::ostringstream lines;
        for (const auto& [place, of] : asked_) {
            const auto& [family, problem, device, threads, deterministic] = place;
            if (lines.tellp() > 0) lines << '\n';
            lines << "schema=1 family=" << family << " problem=" << problem << " device=" << device
                  << " threads=" << threads << (deterministic ? " deterministic=1" : "") << " calls=" << of.calls
                  << " timed=" << of.timed << " nanoseconds=" << of.nanoseconds;
        }
        asked_.clear();
        try {
            append_line(path_, lines.str());
        } catch (const BadData&) {
        }
    }

private:
    struct Asked {
        long calls = 0, timed = 0;
        double nanoseconds = 0;  ///< of the timed ones
    };

    /// What the parent asked for it writes itself.
    static void forget_in_child();
    static void write_at_exit();

    std::string path_;
    std::map<std::tuple<std::string, std::string, std::string, int, bool>, Asked> asked_;
};

/// Null if nothing is recorded. Never destroyed: other threads may call while the program ends.
Recorder* recorder() noexcept {
    static Recorder* const only = []() -> Recorder* {
        try {
            std::string path = file_to_append_to("ESPALIER_RECORD");
            return path.empty() ? nullptr : new Recorder(std::move(path));
        } catch (const std::bad_alloc&) {
            return nullptr;
        }
    }();
    return only;
}

void Recorder::forget_in_child() {
    recorder()->asked_.clear();
    recording_mutex.unlock();
}

void Recorder::write_at_exit() {
    const std::lock_guard lock(recording_mutex);
    try {
        recorder()->write();
    } catch (const std::bad_alloc&) {
        // There is no memory for the text.
    }
}

}  // namespace

bool records_problems() noexcept { return recorder() != nullptr; }

void record_problem(const AskedProblem& asked, std::optional<double> nanoseconds) noexcept {
    const std::lock_guard lock(recording_mutex);
    try {
        recorder()->add(asked, nanoseconds);
    } catch (const std::bad_alloc&) {
        // The call is not counted.
    }
}

}  // namespace espalier
