#include "harness/apps/sessions/sums_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/apps/io/bad_file.hpp"
#include "harness/base/clock.hpp"
#include "harness/base/range.hpp"

namespace espalier::bench::apps {
namespace {

constexpr double kMostBytes = 0x1p62;

/// Version 1.0 of the format: magic bytes, the length of what follows, and a Python dictionary, filled up with blanks
/// so that the array begins at a multiple of 64 bytes.
std::string npy_header(std::int64_t rows, std::int64_t columns) {
    constexpr std::size_t kPrefix = 10, kAlignment = 64;
    std::string text = fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
    const std::size_t length = (kPrefix + text.size() + 1 + kAlignment - 1) / kAlignment * kAlignment - kPrefix;
    text.resize(length - 1, ' ');
    return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(length & 255) + static_cast<char>(length >> 8) +
           text + '\n';
}

}  // namespace

SumsFile::SumsFile(const std::string& path, std::int64_t nodes, std::int64_t samples)
    : path_(path),
      header_(npy_header(nodes, samples)),
      nodes_(nodes),
      samples_(samples),
      file_(path, ReplacedFile::Special::refused) {
    if (static_cast<double>(nodes) * static_cast<double>(samples) * sizeof(float) > kMostBytes)
        throw io::BadFile(
            path,
            fmt::format("{} nodes x {} samples are more than a file can hold; take a smaller --grid", nodes, samples));
    file_.reserve(bytes());
    file_.write_at(0, header_);
    thread_ = std::thread([this] { work(); });
}

SumsFile::~SumsFile() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

std::int64_t SumsFile::bytes() const {
    return static_cast<std::int64_t>(header_.size()) + nodes_ * samples_ * static_cast<std::int64_t>(sizeof(float));
}

void SumsFile::write(const seismic::Window& window, std::span<const float> sums) {
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back({window, sums});
    }
    changed_.notify_all();
}

void SumsFile::wait_for(std::int64_t number) {
    const Stopwatch stopwatch(waited_seconds_);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return error_ || tasks_.empty() || tasks_.front().window.number > number; });
    if (error_) std::rethrow_exception(error_);
}

void SumsFile::commit() {
    wait_for(std::numeric_limits<std::int64_t>::max());
    const Stopwatch writing(write_seconds_), waiting(waited_seconds_);
    file_.commit();
}

void SumsFile::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return stopping_ || !tasks_.empty(); });
        if (stopping_) return;
        const Task task = tasks_.front();
        lock.unlock();
        std::exception_ptr error;
        try {
            write_window(task);
        } catch (...) {
            error = std::current_exception();
        }
        lock.lock();
        error_ = error;
        if (error_) break;
        tasks_.pop_front();
        changed_.notify_all();
    }
    changed_.notify_all();
}

void SumsFile::write_window(const Task& task) {
    const device::Range range(fmt::format("write window {}", task.window.number));
    const Stopwatch stopwatch(write_seconds_);  // only this thread's until `commit` has waited for it
    const auto row = static_cast<std::size_t>(task.window.samples);
    for (std::int64_t node = 0; node < nodes_; ++node) {
        const auto sums = task.sums.subspan(static_cast<std::size_t>(node) * row, row);
        file_.write_at(static_cast<std::int64_t>(header_.size()) +
                           (node * samples_ + task.window.first) * static_cast<std::int64_t>(sizeof(float)),
                       {reinterpret_cast<const char*>(sums.data()), sums.size_bytes()});
    }
    file_.begin_flushing();  // else all of it would be left for the end, when nothing is summed any more
}

}  // namespace espalier::bench::apps
