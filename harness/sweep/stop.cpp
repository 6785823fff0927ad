#include "harness/sweep/stop.hpp"

#include <signal.h>

#include <atomic>
#include <initializer_list>

namespace espalier::bench {
namespace {

// Written by a signal's handler, in whichever thread the signal finds, and read by all.
std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) { requested.store(true, std::memory_order_relaxed); }

void handle(int signal, void (*handler)(int), int flags) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(signal, &action, nullptr);
}

}  // namespace

StopOnSignals::StopOnSignals() {
    requested.store(false, std::memory_order_relaxed);
    // No SA_RESTART: a wait for the worker should end at once.
    for (const int signal : {SIGINT, SIGTERM}) handle(signal, on_signal, static_cast<int>(SA_RESETHAND));
    // A full disk or a file-size limit is an error of `write`, which can be reported and taken back.
    handle(SIGXFSZ, SIG_IGN, 0);
    handle(SIGPIPE, SIG_IGN, 0);
}

StopOnSignals::~StopOnSignals() {
    for (const int signal : {SIGINT, SIGTERM, SIGXFSZ, SIGPIPE}) handle(signal, SIG_DFL, 0);
}

bool stop_requested() { return requested.load(std::memory_order_relaxed); }

}  // namespace espalier::bench
