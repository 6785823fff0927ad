#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <thread>

#include "harness/apps/io/file.hpp"
#include "harness/apps/seismic/window_reader.hpp"

namespace espalier::bench::apps {

/// All sums of a record in a file of NumPy's format .npy: an array of 32-bit little-endian floats, nodes x samples, the
/// sums of each node in the order of time. A thread of its own writes window by window what the caller holds in memory
/// meanwhile, so that the next windows are summed while one is written. The file gets its name when it is complete.
class SumsFile {
public:
    /// Reserves the whole file, so that a full disk is known before hours of summing. Throws BadFile for a path that
    /// cannot be written or is no regular file, and for sums that do not fit on the disk.
    SumsFile(const std::string& path, std::int64_t nodes, std::int64_t samples);
    ~SumsFile();
    SumsFile(const SumsFile&) = delete;
    SumsFile& operator=(const SumsFile&) = delete;

    /// Has the sums of a window written, nodes x window.samples, which stay as they are until it is. A window that
    /// never comes counts as zeros.
    void write(const seismic::Window& window, std::span<const float> sums);

    /// Waits until no window up to this number is yet to be written. Throws what writing threw.
    void wait_for(std::int64_t number);

    /// Waits for all windows and for the disk, and gives the file its name.
    void commit();

    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] std::int64_t nodes() const { return nodes_; }
    [[nodiscard]] std::int64_t samples() const { return samples_; }
    [[nodiscard]] std::int64_t bytes() const;
    /// Seconds of writing, and of those the ones in which the caller waited. Final after `commit`.
    [[nodiscard]] double write_seconds() const { return write_seconds_; }
    [[nodiscard]] double waited_seconds() const { return waited_seconds_; }

private:
    struct Task {
        seismic::Window window;
        std::span<const float> sums;
    };

    void work();
    void write_window(const Task& task);

    std::string path_, header_;
    std::int64_t nodes_, samples_;
    io::AtomicFile file_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Task> tasks_;  ///< the first one is being written
    bool stopping_ = false;
    std::exception_ptr error_;
    double write_seconds_ = 0, waited_seconds_ = 0;
    std::thread thread_;
};

}  // namespace espalier::bench::apps
