#include "harness/bench/sweep/worker/worker_pool.hpp"

#include "harness/bench/sweep/worker/devices.hpp"

namespace espalier::bench {
namespace {

constexpr double kHelloSeconds = 60;     // creating a context on a busy machine takes its time
constexpr double kCeilingsSeconds = 60;  // a second or two when it is quiet

/// The worker's answer; nothing, and no worker, if there came none.
template <class Answer>
std::optional<Answer> ask(WorkerPool& pool, const std::string& request, const std::function<void()>& tick) {
    WorkerProcess& worker = pool.worker();
    worker.send(request);
    const auto outcome = worker.wait(kCeilingsSeconds, tick);
    if (const auto* event = std::get_if<protocol::Event>(&outcome))
        if (const auto* answer = std::get_if<Answer>(event)) return *answer;
    pool.discard();
    return std::nullopt;
}

}  // namespace

void WorkerPool::start() {
    if (worker_) return;
    const ConfinedThread confined(processors_);
    worker_ = std::make_unique<WorkerProcess>(name_);
    greeted_ = false;
}

WorkerProcess& WorkerPool::worker() {
    start();
    if (!greeted_) greet();
    return *worker_;
}

void WorkerPool::greet() {
    const auto outcome = worker_->wait(kHelloSeconds, [] {});
    if (const auto* event = std::get_if<protocol::Event>(&outcome)) {
        if (const auto* hello = std::get_if<protocol::Hello>(event)) {
            if (hello_.device.key.empty()) hello_ = *hello;
            gpus_ = hello->gpus;
            greeted_ = true;
            return;
        }
    }
    discard();
    if (const auto* event = std::get_if<protocol::Event>(&outcome))
        if (const auto* refused = std::get_if<protocol::NoDevice>(event)) {
            gpus_ = refused->gpus;
            throw NoUsableDevice("device " + name_ + ": " + refused->reason);
        }
    if (const auto* died = std::get_if<Died>(&outcome))
        throw NoUsableDevice("the worker process for device " + name_ + " ended at its start: " + died->how);
    throw NoUsableDevice("the worker process for device " + name_ + " did not start in time");
}

std::optional<DeviceInfo> with_ceilings(WorkerPool& pool, const std::function<void()>& tick) {
    const auto done = ask<protocol::CeilingsDone>(pool, R"({"request":"ceilings"})", tick);
    return done ? std::optional(done->device) : std::nullopt;
}

std::optional<CopyRates> copy_rates(WorkerPool& pool) {
    const auto measured = ask<protocol::CopiesMeasured>(pool, R"({"request":"copies"})", [] {});
    return measured ? std::optional(measured->rates) : std::nullopt;
}

std::string counters_refusal(WorkerPool& pool) {
    WorkerProcess& worker = pool.worker();
    worker.send(R"({"request":"counters"})");
    const auto outcome = worker.wait(kHelloSeconds, [] {});
    if (const auto* event = std::get_if<protocol::Event>(&outcome))
        if (const auto* checked = std::get_if<protocol::CountersChecked>(event)) return checked->reason;
    const auto* died = std::get_if<Died>(&outcome);
    const std::string reason =
        died ? "the profiler ended the worker process: " + died->how : "the profiler did not answer";
    pool.discard();
    return reason;
}

}  // namespace espalier::bench
