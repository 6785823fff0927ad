#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
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
};

/// Cuts a record into windows on a thread of its own, into buffers ("slots") that the caller owns. A window is
/// read once its slot is free again, so that with two slots one is filled while the other is worked on.
/// Neighbouring windows overlap by `span` samples, which are kept in memory and not read twice. Past the end of
/// the record there are zeros: every time up to the last sample is summed over what there is.
class WindowReader {
public:
    /// Each slot holds receivers x (window + span) values. `weights`, one per receiver or none, are multiplied in.
    WindowReader(Record& record, std::vector<float*> slots, std::int64_t window, std::int64_t span,
                 std::vector<float> weights);
    ~WindowReader();
    WindowReader(const WindowReader&) = delete;
    WindowReader& operator=(const WindowReader&) = delete;

    /// The next window, waiting for it; nothing at the end of the record. Throws what reading threw.
    std::optional<Window> next();

    /// The window's slot may be overwritten.
    void release(const Window& window);

    /// Seconds spent in reading, and not in waiting for a free slot. Final after `next` has returned nothing.
    [[nodiscard]] double read_seconds();

private:
    void work();
    bool wait_for_slot(std::size_t slot);
    void fill(Window& window);

    Record& record_;
    const std::vector<float*> slots_;
    const std::int64_t window_, span_;
    const std::vector<float> weights_;
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
