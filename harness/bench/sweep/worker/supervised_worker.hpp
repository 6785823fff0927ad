#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "harness/bench/sweep/worker/processors.hpp"
#include "harness/bench/sweep/worker/protocol.hpp"
#include "harness/bench/sweep/worker/worker_process.hpp"

namespace espalier::bench {

/// How a worker came to its end, and what it was doing then.
struct WorkerEnd {
    enum class Cause {
        died,     ///< on its own
        stalled,  ///< it made no step for as long as it may, and was killed
        stopped   ///< the sweep was asked to stop, and it was killed
    };
    Cause cause = Cause::died;
    Death death;  ///< of one that died
    Phase phase = Phase::idle;
    std::uint32_t candidate = ProgressPage::kNoCandidate;
};

/// A worker process for one device that is started when it is needed, and again when it has gone. Belongs to one thread
/// at a time: a process dies with the thread that started it.
class SupervisedWorker {
public:
    explicit SupervisedWorker(std::string device, const ProcessorShare& processors = {})
        : name_(std::move(device)), processors_(processors) {}

    using Tick = std::function<void()>;
    using Outcome = std::variant<protocol::Event, WorkerEnd>;

    /// Starts a process if there is none, without waiting for what it says.
    void start();
    /// Makes sure of a process that has said hello. Throws `NoUsableDevice` if it cannot use the device.
    void open();
    /// Kills the process, if there is one.
    void stop() { process_.reset(); }

    /// Opens the worker and sends it a request.
    void send(const protocol::Request& request);
    /// The next event, or what happened instead, after which there is no process. `timeout_seconds` is how long it may
    /// make no step. `tick` is called a few times a second.
    Outcome wait(double timeout_seconds, const Tick& tick);
    /// What the process is doing. There has to be one.
    [[nodiscard]] const ProgressPage& page() const { return process_->page(); }

    /// The device with its ceilings measured; nothing if that failed or the sweep was asked to stop.
    std::optional<DeviceInfo> measure_ceilings(const Tick& tick);
    /// What copying between host and device reaches; nothing if that failed.
    std::optional<CopyRates> measure_copies();
    /// Why the device has no hardware counters; empty if it has.
    std::string counters_refusal();
    /// The passes that all counters take, as the last answer to `counters_refusal` had it; 0 without one.
    [[nodiscard]] std::size_t counter_passes() const { return counter_passes_; }

    [[nodiscard]] const std::string& name() const { return name_; }
    /// The device as the first process saw it.
    [[nodiscard]] const protocol::Hello& hello() const { return hello_; }
    /// GPUs of this host, as the last process that asked for one saw it; nothing if it ended before it could tell.
    [[nodiscard]] std::optional<int> gpus() const { return gpus_; }

private:
    template <class Answer>
    std::optional<Answer> ask(protocol::Question question, const Tick& tick);
    void greet();
    std::optional<protocol::Event> next_event();
    WorkerEnd end(WorkerEnd::Cause cause);
    [[nodiscard]] double seconds_without_a_step();

    std::string name_;
    ProcessorShare processors_;
    std::unique_ptr<WorkerProcess> process_;
    bool greeted_ = false;  ///< the process has said hello
    std::uint64_t last_beat_ = 0;
    double last_step_ = 0;  ///< steady seconds
    protocol::Hello hello_;
    std::optional<int> gpus_;
    std::size_t counter_passes_ = 0;
};

}  // namespace espalier::bench
