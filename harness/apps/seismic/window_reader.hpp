#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "harness/apps/seismic/record.hpp"

namespace espalier::bench::seismic {

/// A window of a record in memory: samples [first, first + samples + span) of every receiver, one row of
/// samples + span values per receiver.
struct Window {
    std::int64_t number = 0;
    std::int64_t first = 0;
    std::int64_t samples = 0;  ///< how far the next window begins after this one; the last may be shorter
    std::size_t slot = 0;
    bool silent = false;  ///< no receiver has a sample in it: all zeros, which were not written to the slot
    double awaited = 0;   ///< seconds until its samples were there, of a record that grows
};

/// When to stop following a record that grows, and for whom not to wait.
struct Following {
    double longest = std::numeric_limits<double>::infinity();  ///< seconds in all
    double idle = std::numeric_limits<double>::infinity();     ///< seconds without a new sample
    std::int64_t late =
        std::int64_t{1} << 48;   ///< samples: receivers that are further behind the first are not waited for
    std::function<bool()> told;  ///< to stop
};

/// Why following stopped.
enum class FollowEnd : std::uint8_t { not_followed, told, longest, idle };

/// Cuts a record into windows on a thread of its own, into buffers ("slots") that the caller owns. A window is
/// read once its slot is free again, so that with two slots one is filled while the other is worked on.
/// Neighbouring windows overlap by `span` samples, which are kept in memory and not read twice. Past the end of
/// the record there are zeros: every time up to the last sample is summed over what there is. Of a record that is
/// followed a window is read when all its samples are there, and when following stops those that there are. Nobody else
/// may look at samples, gaps and notes of the record meanwhile.
class WindowReader {
public:
    /// Each slot holds receivers x (window + span) values. `weights`, one per receiver or none, are multiplied in.
    WindowReader(Record& record, std::vector<float*> slots, std::int64_t window, std::int64_t span,
                 std::vector<float> weights, std::optional<Following> following = {});
    ~WindowReader();
    WindowReader(const WindowReader&) = delete;
    WindowReader& operator=(const WindowReader&) = delete;

    /// The next window, waiting for it; nothing at the end of the record. Throws what reading threw.
    std::optional<Window> next();

    /// Whether `next` would return a window at once.
    [[nodiscard]] bool ready();

    /// The window's slot may be overwritten.
    void release(const Window& window);

    /// Seconds spent in reading, and not in waiting for a free slot. Final after `next` has returned nothing.
    [[nodiscard]] double read_seconds();

    /// Final after `next` has returned nothing.
    [[nodiscard]] FollowEnd follow_end() const { return follow_end_; }

private:
    void work();
    double await_samples(std::int64_t until);
    [[nodiscard]] FollowEnd reason_to_stop(double grown) const;
    bool pause();
    bool wait_for_slot(std::size_t slot);
    void fill(Window& window);

    Record& record_;
    const std::vector<float*> slots_;
    const std::int64_t window_, span_;
    const std::vector<float> weights_;
    const std::optional<Following> following_;
    FollowEnd follow_end_ = FollowEnd::not_followed;
    double begin_ = 0;            ///< of following, by the steady clock
    std::vector<float> overlap_;  ///< receivers x span: the end of the window before

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::optional<Window>> filled_;  ///< per slot
    std::vector<bool> free_;
    bool finished_ = false, stopping_ = false;
    std::exception_ptr error_;
    double read_seconds_ = 0;
    std::size_t next_slot_ = 0;
    std::thread thread_;
};

}  // namespace espalier::bench::seismic
