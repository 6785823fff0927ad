#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "harness/bench/sweep/worker/processors.hpp"
#include "harness/bench/sweep/worker/protocol.hpp"
#include "harness/bench/sweep/worker/worker_process.hpp"

namespace espalier::bench {

/// Keeps one worker alive: starts it, learns what device it has, starts another when it is gone. Belongs to one thread
/// at a time, and a worker dies with the thread that started it.
class WorkerPool {
public:
    explicit WorkerPool(std::string device, const ProcessorShare& processors = {})
        : name_(std::move(device)), processors_(processors) {}

    /// Starts a worker if there is none, without waiting for what it says.
    void start();
    /// A worker that has said hello. Throws `NoUsableDevice` if it cannot use the device.
    WorkerProcess& worker();
    void discard() { worker_.reset(); }

    [[nodiscard]] const std::string& name() const { return name_; }
    /// The device as the first worker saw it.
    [[nodiscard]] const protocol::Hello& hello() const { return hello_; }
    /// GPUs of this host, as the last worker that asked for one saw it; nothing if it ended before it could tell.
    [[nodiscard]] std::optional<int> gpus() const { return gpus_; }

private:
    void greet();

    std::string name_;
    ProcessorShare processors_;
    std::unique_ptr<WorkerProcess> worker_;
    bool greeted_ = false;  ///< the worker has said hello
    protocol::Hello hello_;
    std::optional<int> gpus_;
};

/// The device with its ceilings measured; nothing if that failed or the sweep was asked to stop.
std::optional<DeviceInfo> with_ceilings(WorkerPool& pool, const std::function<void()>& tick);

/// What copying between host and device reaches; nothing if that failed.
std::optional<CopyRates> copy_rates(WorkerPool& pool);

/// Why the device has no hardware counters; empty if it has.
std::string counters_refusal(WorkerPool& pool);

}  // namespace espalier::bench
