#include "harness/bench/sweep/worker/worker.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>

#include "harness/base/clock.hpp"
#include "harness/bench/profile/cpu_ceilings.hpp"
#include "harness/bench/records/codec.hpp"
#include "harness/bench/sweep/worker/case_counters.hpp"
#include "harness/bench/sweep/worker/progress_page.hpp"
#include "harness/bench/sweep/worker/protocol.hpp"
#include "harness/bench/sweep/worker/provenance.hpp"
#include "harness/bench/sweep/worker/timing.hpp"
#include "harness/bench/sweep/worker/verify.hpp"
#include "harness/bench/sweep/worker/worker_measure.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

using namespace protocol;

/// Lines over the inherited socket.
class Channel {
public:
    explicit Channel(int file) : file_(file) {}

    void send(const Event& event) const {
        const std::string line = encode(event) + '\n';
        std::size_t done = 0;
        while (done < line.size()) {
            const ssize_t written = write(file_, line.data() + done, line.size() - done);
            if (written < 0 && errno != EINTR) _exit(0);  // the sweep is gone
            if (written > 0) done += static_cast<std::size_t>(written);
        }
    }

    /// False when the sweep has closed its end.
    bool receive(std::string& line) {
        while (true) {
            if (const auto end = buffered_.find('\n'); end != std::string::npos) {
                line = buffered_.substr(0, end);
                buffered_.erase(0, end + 1);
                return true;
            }
            char chunk[1 << 14];
            const ssize_t got = read(file_, chunk, sizeof chunk);
            if (got > 0)
                buffered_.append(chunk, static_cast<std::size_t>(got));
            else if (got == 0 || errno != EINTR)
                return false;
        }
    }

private:
    int file_;
    std::string buffered_;
};

/// Opens the device or says why not.
std::variant<DeviceInfo, NoDevice> open_device(const std::string& name) {
    if (name == "cpu") return device::describe_cpu();
    int ordinal = -1;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), ordinal);
    if (error != std::errc{} || end != name.data() + name.size() || ordinal < 0)
        return NoDevice{"'" + name + "' is neither cpu nor a GPU's number"};
    const int count = device::count();
    if (count == 0) return NoDevice{device::unavailable_reason()};
    try {
        DeviceInfo device = device::open(std::min(ordinal, count - 1));
        if (!device.emulated && ordinal < count) return device;
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

}  // namespace

int run_worker(const WorkerOptions& options) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != options.parent) return 0;  // it died before we could ask to die with it
    volunteer_for_the_oom_killer();
    const SharedPage page(options.page);
    Channel channel(options.channel);
    auto opened = open_device(options.device);
    if (const auto* refused = std::get_if<NoDevice>(&opened)) {
        channel.send(*refused);
        return 0;
    }
    DeviceInfo device = std::get<DeviceInfo>(opened);
    channel.send(Hello{device, driver_version(device), runtime_version(device), build_identity(), free_memory(device),
                       device.kind == DeviceKind::cuda ? device::count() : 0});
    CaseCounters counters(device);
    for (std::string line; channel.receive(line);) {
        const auto message = nlohmann::json::parse(line);
        if (message.at("request") == "ceilings") {
            page->step(Phase::ceilings);
            add_ceilings(device);
            channel.send(CeilingsDone{device});
        } else if (message.at("request") == "copies") {
            page->step(Phase::ceilings);
            channel.send(CopiesMeasured{device.kind == DeviceKind::cuda ? measure_copy_rates() : CopyRates{}});
        } else if (message.at("request") == "counters") {
            channel.send(CountersChecked{counters.refusal()});
        } else if (!measure(decode_measure(message), device, counters, *page,
                            [&](const Event& e) { channel.send(e); })) {
            return 1;  // the device is in an unknown state: the sweep starts another worker
        }
        page->step(Phase::idle);
    }
    return 0;
}

}  // namespace espalier::bench
