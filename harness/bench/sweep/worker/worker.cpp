#include "harness/bench/sweep/worker/worker.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>
#include <variant>

#include "harness/bench/profile/cpu_ceilings.hpp"
#include "harness/bench/profile/timeline.hpp"
#include "harness/bench/sweep/worker/case_counters.hpp"
#include "harness/bench/sweep/worker/devices.hpp"
#include "harness/bench/sweep/worker/line_channel.hpp"
#include "harness/bench/sweep/worker/progress_page.hpp"
#include "harness/bench/sweep/worker/protocol.hpp"
#include "harness/bench/sweep/worker/provenance.hpp"
#include "harness/bench/sweep/worker/worker_measure.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

using namespace protocol;

/// Opens the device or says why not.
std::variant<DeviceInfo, NoDevice> open_device(const std::string& name) {
    if (name == "cpu") return device::describe_cpu();
    const auto ordinal = gpu_ordinal(name);
    if (!ordinal) return NoDevice{"'" + name + "' is neither cpu nor a GPU's number"};
    const int count = device::count();
    if (count == 0) return NoDevice{device::unavailable_reason()};
    try {
        DeviceInfo device = device::open(std::min(*ordinal, count - 1));
        if (!device.emulated && *ordinal < count) return device;
        if (!device.emulated) return NoDevice{"there is none: the last GPU is " + std::to_string(count - 1), count};
    } catch (const device::DeviceError& failure) {
        return NoDevice{failure.what(), count};
    }
    return NoDevice{
        "this build has no CUDA (its host executor runs GPU sources for the tests and is never "
        "timed): build with nvcc, preset cuda"};
}

/// If memory runs short, this process should go and not the sweep.
void volunteer_for_the_oom_killer() { std::ofstream("/proc/self/oom_score_adj") << 1000; }

void add_ceilings(DeviceInfo& device) {
    const auto ceilings =
        device.kind == DeviceKind::cpu ? measure_cpu_ceilings(device) : device::measure_gpu_ceilings();
    device.bytes_per_second = ceilings.bytes;
    device.cached_bytes_per_second = ceilings.cached_bytes;
    device.fp32_per_second = ceilings.fp32;
    device.int_per_second = ceilings.integer;
}

/// What answers the sweep's requests in this process.
class Worker {
public:
    Worker(DeviceInfo device, ProgressPage& page, const LineChannel& channel)
        : device_(std::move(device)), page_(page), channel_(channel), counters_(device_) {}

    /// False if the process must not be used any more.
    bool answer(const Request& request) {
        const auto* question = std::get_if<Question>(&request);
        if (question)
            say(answer(*question));
        else if (!measure(std::get<Measure>(request), device_, counters_, page_, [&](const Event& e) { say(e); }))
            return false;
        page_.step(Phase::idle);
        return true;
    }

    void say(const Event& event) const {
        // Before the sweep knows: it may kill the worker as soon as there is nothing left to do.
        if (std::holds_alternative<Done>(event)) static_cast<void>(device::write_timeline());
        if (!channel_.send(encode(event))) _exit(0);  // the sweep is gone
    }

private:
    Event answer(Question question) {
        if (question == Question::counters) return CountersChecked{counters_.refusal(), counters_.passes()};
        page_.step(Phase::ceilings);
        if (question == Question::copies)
            return CopiesMeasured{device_.kind == DeviceKind::cuda ? measure_copy_rates() : CopyRates{}};
        add_ceilings(device_);
        return CeilingsDone{device_};
    }

    DeviceInfo device_;
    ProgressPage& page_;
    const LineChannel& channel_;
    CaseCounters counters_;
};

}  // namespace

int run_worker(const WorkerOptions& options) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != options.parent) return 0;  // it died before we could ask to die with it
    volunteer_for_the_oom_killer();
    const SharedPage page(options.page);
    LineChannel channel(options.channel);
    const auto opened = open_device(options.device);
    if (const auto* refused = std::get_if<NoDevice>(&opened)) {
        static_cast<void>(channel.send(encode(*refused)));
        return 0;
    }
    const auto& device = std::get<DeviceInfo>(opened);
    if (device.kind == DeviceKind::cuda) device::trace_device_for_timeline();
    Worker worker(device, *page, channel);
    worker.say(Hello{device, driver_version(device), runtime_version(device), build_identity(), free_memory(device),
                     device.kind == DeviceKind::cuda ? device::count() : 0});
    do {
        while (const auto line = channel.take())
            if (!worker.answer(decode_request(*line))) return 1;  // the sweep starts another one
    } while (channel.receive());
    return 0;
}

}  // namespace espalier::bench
