#include "harness/bench/sweep/schedule/quiet_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "harness/base/progress.hpp"
#include "harness/base/stop.hpp"
#include "harness/bench/records/disturbance.hpp"

namespace espalier::bench {
namespace {

constexpr double kShortestLook = 0.25;  // seconds: less is too few ticks of the system's clock
constexpr double kStep = 0.5;           // seconds between two looks while waiting

class ThisMachine final : public LoadSource {
public:
    LoadReading read() override { return read_load(getpid()); }
    void pause(double seconds) override { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }
};

std::string who(const Disturbance& disturbance, int processors) {
    return fmt::format(
        "{} {:.0f}% of the {} processors",
        disturbance.cause == DisturbanceCause::guests ? "other guests of the host take" : "other programs use",
        100 * disturbance.share, processors);
}

}  // namespace

std::unique_ptr<LoadSource> this_machine() { return std::make_unique<ThisMachine>(); }

double waiting_budget(double wanted_seconds, std::optional<double> max_seconds) {
    constexpr double kShare = 0.25;
    return max_seconds ? std::min(wanted_seconds, kShare * *max_seconds) : wanted_seconds;
}

QuietWatch::QuietWatch(double budget_seconds, std::unique_ptr<LoadSource> source,
                       std::function<void(const std::string&)> say)
    : budget_(budget_seconds), left_(budget_seconds), source_(std::move(source)), say_(std::move(say)) {
    if (budget_ > 0) last_ = source_->read();
}

bool QuietWatch::quiet() const {
    const std::lock_guard lock(mutex_);
    return quiet_;
}

double QuietWatch::wait(DeviceKind kind) {
    if (!(budget_ > 0)) return 0;
    const std::lock_guard lock(mutex_);
    auto load = since_last_look();
    double waited = 0;
    if (!load && !looked_) {
        waited = pause(kShortestLook);
        load = since_last_look();
    }
    looked_ = true;
    if (!load) return waited;
    quiet_ = !busy(load, kind);
    if (!quiet_) waited += wait_while_busy(kind);
    return waited;
}

/// Nothing if that was just now.
std::optional<Load> QuietWatch::since_last_look() {
    const LoadReading now = source_->read();
    if (now.at - last_.at < kShortestLook) return std::nullopt;
    return load_between(std::exchange(last_, now), now);
}

bool QuietWatch::busy(const std::optional<Load>& load, DeviceKind kind) const {
    if (!load) return false;
    const double processors = load->processors;
    if (kind == DeviceKind::cpu) return taken_by_others(load->foreign_share, load->steal_share, processors).has_value();
    // None is idle: what others take leaves less than most of one.
    return (load->foreign_share + load->steal_share) * processors > processors - 1 + tolerated_share(1) / 2;
}

double QuietWatch::pause(double seconds) {
    source_->pause(seconds);
    left_ -= seconds;
    return seconds;
}

/// What was seen since the last problem began may be over: the first pause says nothing.
double QuietWatch::wait_while_busy(DeviceKind kind) {
    double waited = 0;
    bool told = false;
    while (left_ > 0 && !stop_requested()) {
        waited += pause(std::min(kStep, left_));
        const auto load = since_last_look();
        quiet_ = !busy(load, kind);
        if (quiet_) break;
        const auto others = taken_by_others(load->foreign_share, load->steal_share, load->processors);
        if (!told && others && left_ > 0)
            say_(fmt::format("espalier: {}: waiting for quiet, for up to {} (--wait-for-quiet)",
                             who(*others, load->processors), duration(left_)));
        told = true;
    }
    if (quiet_ && told) say_(fmt::format("espalier: quiet again after {:.1f} s", waited));
    if (!quiet_ && left_ <= 0) say_that_time_is_up();
    return waited;
}

void QuietWatch::say_that_time_is_up() {
    if (std::exchange(gave_up_, true)) return;
    say_(fmt::format("espalier: still busy after waiting {:.1f} s in all: going on; what is disturbed is marked",
                     budget_));
}

}  // namespace espalier::bench
