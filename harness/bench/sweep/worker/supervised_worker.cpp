#include "harness/bench/sweep/worker/supervised_worker.hpp"

#include <utility>

#include "harness/base/clock.hpp"
#include "harness/base/stop.hpp"
#include "harness/bench/sweep/worker/devices.hpp"

namespace espalier::bench {
namespace {

constexpr double kHelloSeconds = 60;   // creating a context on a busy machine takes its time
constexpr double kAnswerSeconds = 60;  // ceilings take a second or two when it is quiet

/// The message of an outcome, if it is of this kind.
template <class Message>
const Message* message_in(const SupervisedWorker::Outcome& outcome) {
    const auto* event = std::get_if<protocol::Event>(&outcome);
    return event ? std::get_if<Message>(event) : nullptr;
}

}  // namespace

void SupervisedWorker::start() {
    if (process_) return;
    const ConfinedThread confined(processors_);
    process_ = std::make_unique<WorkerProcess>(name_);
    greeted_ = false;
    last_beat_ = 0;
    last_step_ = steady_seconds();
}

void SupervisedWorker::open() {
    start();
    if (!greeted_) greet();
}

void SupervisedWorker::greet() {
    const Outcome outcome = wait(kHelloSeconds, [] {});
    if (const auto* hello = message_in<protocol::Hello>(outcome)) {
        if (hello_.device.key.empty()) hello_ = *hello;
        gpus_ = hello->gpus;
        greeted_ = true;
        return;
    }
    stop();
    if (const auto* refused = message_in<protocol::NoDevice>(outcome)) {
        gpus_ = refused->gpus;
        throw NoUsableDevice("device " + name_ + ": " + refused->reason);
    }
    const auto* ended = std::get_if<WorkerEnd>(&outcome);
    if (ended && ended->cause == WorkerEnd::Cause::died)
        throw NoUsableDevice("the worker process for device " + name_ + " ended at its start: " + ended->death.how);
    throw NoUsableDevice("the worker process for device " + name_ + " did not start in time");
}

/// One that has died reads nothing: `wait` says how it ended.
void SupervisedWorker::send(const protocol::Request& request) {
    open();
    static_cast<void>(process_->channel().send(protocol::encode(request)));
    last_step_ = steady_seconds();
}

SupervisedWorker::Outcome SupervisedWorker::wait(double timeout_seconds, const Tick& tick) {
    while (true) {
        tick();
        if (auto event = next_event()) return std::move(*event);
        if (stop_requested()) return end(WorkerEnd::Cause::stopped);
        const bool is_there = process_->listen();
        if (auto event = next_event()) return std::move(*event);
        if (!is_there) return end(WorkerEnd::Cause::died);
        if (seconds_without_a_step() > timeout_seconds) return end(WorkerEnd::Cause::stalled);
    }
}

std::optional<protocol::Event> SupervisedWorker::next_event() {
    const auto line = process_->channel().take();
    if (!line) return std::nullopt;
    last_step_ = steady_seconds();
    return protocol::decode_event(*line);
}

double SupervisedWorker::seconds_without_a_step() {
    const std::uint64_t beat = page().beats.load(std::memory_order_acquire);
    if (std::exchange(last_beat_, beat) != beat) last_step_ = steady_seconds();
    return steady_seconds() - last_step_;
}

WorkerEnd SupervisedWorker::end(WorkerEnd::Cause cause) {
    WorkerEnd ended{.cause = cause, .death = {}, .phase = page().phase.load(), .candidate = page().candidate.load()};
    if (cause == WorkerEnd::Cause::died) ended.death = process_->reap();
    stop();
    return ended;
}

/// The worker's answer; nothing, and no process, if there came none.
template <class Answer>
std::optional<Answer> SupervisedWorker::ask(protocol::Question question, const Tick& tick) {
    send(question);
    const Outcome outcome = wait(kAnswerSeconds, tick);
    if (const auto* answer = message_in<Answer>(outcome)) return *answer;
    stop();
    return std::nullopt;
}

std::optional<DeviceInfo> SupervisedWorker::measure_ceilings(const Tick& tick) {
    const auto done = ask<protocol::CeilingsDone>(protocol::Question::ceilings, tick);
    return done ? std::optional(done->device) : std::nullopt;
}

std::optional<CopyRates> SupervisedWorker::measure_copies() {
    const auto measured = ask<protocol::CopiesMeasured>(protocol::Question::copies, [] {});
    return measured ? std::optional(measured->rates) : std::nullopt;
}

std::string SupervisedWorker::counters_refusal() {
    send(protocol::Question::counters);
    const Outcome outcome = wait(kAnswerSeconds, [] {});
    if (const auto* checked = message_in<protocol::CountersChecked>(outcome)) {
        counter_passes_ = checked->passes;
        return checked->reason;
    }
    stop();
    const auto* ended = std::get_if<WorkerEnd>(&outcome);
    return ended && ended->cause == WorkerEnd::Cause::died
               ? "the profiler ended the worker process: " + ended->death.how
               : "the profiler did not answer";
}

}  // namespace espalier::bench
