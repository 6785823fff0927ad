#include "harness/apps/seismic/window_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "harness/base/clock.hpp"
#include "harness/base/range.hpp"

namespace espalier::bench::seismic {

WindowReader::WindowReader(Record& record, std::vector<float*> slots, std::int64_t window, std::int64_t span,
                           std::vector<float> weights, std::optional<Following> following)
    : record_(record),
      slots_(std::move(slots)),
      window_(window),
      span_(span),
      weights_(std::move(weights)),
      following_(std::move(following)),
      begin_(steady_seconds()),
      overlap_(static_cast<std::size_t>(record.receivers() * span)),
      filled_(slots_.size()),
      free_(slots_.size(), true),
      thread_([this] { work(); }) {}

WindowReader::~WindowReader() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

std::optional<Window> WindowReader::next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return filled_[next_slot_] || finished_; });
    if (!filled_[next_slot_]) {
        if (error_) std::rethrow_exception(error_);
        return std::nullopt;
    }
    const Window window = *filled_[next_slot_];
    filled_[next_slot_].reset();
    next_slot_ = (next_slot_ + 1) % slots_.size();
    return window;
}

bool WindowReader::ready() {
    const std::lock_guard lock(mutex_);
    return filled_[next_slot_].has_value();
}

void WindowReader::release(const Window& window) {
    {
        const std::lock_guard lock(mutex_);
        free_[window.slot] = true;
    }
    changed_.notify_all();
}

double WindowReader::read_seconds() {
    const std::lock_guard lock(mutex_);
    return read_seconds_;
}

void WindowReader::work() {
    try {
        Window window{.samples = window_};
        for (;; window.first += window.samples, ++window.number) {
            if (following_) window.awaited = await_samples(window.first + window_ + span_);
            if (window.first >= record_.samples()) break;
            window.slot = static_cast<std::size_t>(window.number) % slots_.size();
            window.samples = std::min(window_, record_.samples() - window.first);
            if (!wait_for_slot(window.slot)) return;
            const auto start = std::chrono::steady_clock::now();
            fill(window);
            const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
            const std::lock_guard lock(mutex_);
            read_seconds_ += taken.count();
            filled_[window.slot] = window;
            changed_.notify_all();
        }
    } catch (...) {
        const std::lock_guard lock(mutex_);
        error_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
}

/// Returns the seconds that it took. After the end of following there are as many samples as there are.
double WindowReader::await_samples(std::int64_t until) {
    const double begin = steady_seconds();
    for (double grown = begin; follow_end_ == FollowEnd::not_followed;) {
        const bool there = std::max(record_.complete(), record_.samples() - following_->late) >= until;
        follow_end_ = reason_to_stop(grown);  // before the last look: nothing that was there then is lost
        if (there && follow_end_ == FollowEnd::not_followed) break;
        if (record_.grow())
            grown = steady_seconds();
        else if (follow_end_ == FollowEnd::not_followed && !pause())
            break;
    }
    return steady_seconds() - begin;
}

FollowEnd WindowReader::reason_to_stop(double grown) const {
    const double now = steady_seconds();
    if (following_->told && following_->told()) return FollowEnd::told;
    if (now - begin_ >= following_->longest) return FollowEnd::longest;
    return now - grown >= following_->idle ? FollowEnd::idle : FollowEnd::not_followed;
}

/// Until the files are worth another look. Returns whether to go on.
bool WindowReader::pause() {
    constexpr std::chrono::milliseconds kBetweenLooks(100);
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, kBetweenLooks, [&] { return stopping_; });
}

bool WindowReader::wait_for_slot(std::size_t slot) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return free_[slot] || stopping_; });
    free_[slot] = false;
    return !stopping_;
}

void WindowReader::fill(Window& window) {
    const device::Range range(fmt::format("read window {}", window.number));
    float* const rows = slots_[window.slot];
    const std::int64_t stride = window.samples + span_, receivers = record_.receivers();
    const std::int64_t known = window.number == 0 ? 0 : span_;
    window.silent = record_.silent(window.first, stride);
    if (window.silent) return;  // `overlap_` holds the zeros of this window's begin, and may stay as it is
    record_.read(window.first + known, stride - known, rows + known, stride);
    for (std::int64_t r = 0; r < receivers; ++r) {
        float* const row = rows + r * stride;
        if (!weights_.empty())
            for (std::int64_t i = known; i < stride; ++i) row[i] *= weights_[static_cast<std::size_t>(r)];
        float* const overlap = overlap_.data() + r * span_;
        std::copy_n(overlap, known, row);
        std::copy_n(row + window.samples, span_, overlap);
    }
}

}  // namespace espalier::bench::seismic
