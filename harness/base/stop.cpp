#include "harness/base/stop.hpp"

#include <signal.h>
#include <time.h>

#include <array>
#include <atomic>
#include <cstdint>

namespace espalier::bench {
namespace {

constexpr std::array kStopping{SIGINT, SIGTERM, SIGHUP};

// Written by a signal's handler, in whichever thread the signal finds, and read by all.
std::atomic<int> requested{0};
std::atomic<std::int64_t> requested_at{0};  // nanoseconds of the steady clock; 0: not yet
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

// As they were before the sweep; written before the handlers are there.
std::array<struct sigaction, kStopping.size()> stopping_before;
std::array<struct sigaction, 2> ignored_before;

// Who reads the progress may go; the sweep goes on. A full disk or a file-size limit is an error of `write`, which can
// be reported and discarded.
constexpr std::array kIgnored{SIGPIPE, SIGXFSZ};

void restore_stopping() {
    for (std::size_t i = 0; i < kStopping.size(); ++i) sigaction(kStopping[i], &stopping_before[i], nullptr);
}

void on_stopping_signal(int signal) {
    requested.store(signal, std::memory_order_relaxed);
    restore_stopping();
}

void on_stopping_signal_while_writing(int signal) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t at = now.tv_sec * kSecond + now.tv_nsec;
    std::int64_t first = 0;
    if (requested_at.compare_exchange_strong(first, at, std::memory_order_relaxed)) {
        requested.store(signal, std::memory_order_relaxed);
    } else if (at - first >= kSecond) {
        restore_stopping();
        raise(signal);
    }
}

}  // namespace

StopOnSignals::StopOnSignals(During during) {
    requested.store(0, std::memory_order_relaxed);
    requested_at.store(0, std::memory_order_relaxed);
    struct sigaction action {};
    for (std::size_t i = 0; i < kStopping.size(); ++i) sigaction(kStopping[i], nullptr, &stopping_before[i]);
    action.sa_handler = on_stopping_signal;
    if (during == During::writing) {
        action.sa_handler = on_stopping_signal_while_writing;
        action.sa_flags = SA_RESTART;
        for (const int signal : kStopping) sigaddset(&action.sa_mask, signal);
    }
    for (std::size_t i = 0; i < kStopping.size(); ++i)
        if (stopping_before[i].sa_handler != SIG_IGN) sigaction(kStopping[i], &action, nullptr);
    action.sa_handler = SIG_IGN;
    for (std::size_t i = 0; i < kIgnored.size(); ++i)
        sigaction(kIgnored[i], during == During::measuring ? &action : nullptr, &ignored_before[i]);
}

StopOnSignals::~StopOnSignals() {
    restore_stopping();
    for (std::size_t i = 0; i < kIgnored.size(); ++i) sigaction(kIgnored[i], &ignored_before[i], nullptr);
}

bool stop_requested() { return stop_signal() != 0; }

int stop_signal() { return requested.load(std::memory_order_relaxed); }

}  // namespace espalier::bench
