#include "espalier/device.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "kernels/api/device_state.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/core/isa.hpp"
#include "kernels/device/cpu_limits.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::inline v1 {
namespace {

std::string compute_capability(int sm) { return std::to_string(sm / 10) + "." + std::to_string(sm % 10); }

std::string in_one_line(const DeviceInfo& info) {
    const std::string traits =
        info.kind == DeviceKind::cuda
            ? "compute capability " + compute_capability(info.sm) + ", " + std::to_string(info.sm_count) + " SMs"
            : std::string(in_words(isa_of(info))) + ", " + std::to_string(info.threads) + " threads";
    return info.name + " (" + info.key + ", " + traits + ", " + std::to_string(info.memory_bytes >> 20) + " MiB)";
}

/// A member of a device's state; of a CPU that could not be described for want of memory, "out of memory".
template <class Member>
const std::string& text_of(const Device& device, Member member) noexcept {
    static const std::string unknown("out of memory");  // short enough to need no memory itself
    return *guarded_or(&unknown, [&] { return &member(state_of(device)); });
}

/// The GPUs that were asked for so far. They are never removed, so that handles stay valid.
class OpenedGpus {
public:
    const DeviceState& open(int ordinal) {
        const std::lock_guard lock(mutex_);
        auto& state = states_[ordinal];
        if (!state) {
            const int previous = device::current();
            auto opened = std::make_unique<DeviceState>(device::open(ordinal), ordinal);
            device::make_current(previous);
            state = std::move(opened);
        }
        return *state;
    }

private:
    std::mutex mutex_;
    std::map<int, std::unique_ptr<DeviceState>> states_;
};

DeviceInfo limited(DeviceInfo device, int threads) {
    device.all_threads = device.threads;
    device.threads = threads;
    return device;
}

}  // namespace

DeviceState::DeviceState(DeviceInfo described, int number)
    : info(std::move(described)), description(in_one_line(info)), ordinal(number), serial_(limited(info, 1)) {}

const DeviceInfo& DeviceState::on_threads(int threads) const {
    if (info.kind != DeviceKind::cpu || threads == info.threads) return info;
    if (threads == 1) return serial_;  // without a lock, which a thread that a fork left behind may hold
    const std::lock_guard lock(mutex_);
    auto& other = others_[threads];
    if (!other) other = std::make_unique<const DeviceInfo>(limited(info, threads));
    return *other;
}

const DeviceState& state_of(const Device& device) {
    if (device.state_) return *device.state_;
    static const DeviceState cpu{device::describe_cpu()};  // made anew after a call that threw
    return cpu;
}

int threads_for(const DeviceState& device, const Options& options) {
    const bool cpu = device.info.kind == DeviceKind::cpu;
    return device::allowed_threads(options.threads, cpu ? device.info.threads : device::process_threads());
}

Device Device::cpu() noexcept {
    const Device cpu(nullptr);
    static_cast<void>(cpu.key());  // what the process may use now, not when it first computes
    return cpu;
}

Result<Device> Device::cuda(int ordinal) {
    return guarded([&]() -> Result<Device> {
        const int count = device::count();
        if (count == 0) return Error{ErrorCode::no_device, device::unavailable_reason()};
        if (ordinal < 0 || ordinal >= count)
            return Error{ErrorCode::no_device, "there is no GPU " + std::to_string(ordinal) +
                                                   ": ordinals go from 0 to " + std::to_string(count - 1)};
        static OpenedGpus gpus;
        return Device(&gpus.open(ordinal));
    });
}

Device Device::best() noexcept {
    return guarded_or(cpu(), [] {
        const auto gpu = cuda(0);
        return gpu && !state_of(gpu.value()).info.emulated ? gpu.value() : cpu();
    });
}

bool Device::is_cuda() const noexcept { return state_ && state_->info.kind == DeviceKind::cuda; }
int Device::ordinal() const noexcept { return state_ ? state_->ordinal : -1; }

const std::string& Device::key() const noexcept {
    return text_of(*this, [](const DeviceState& state) -> const std::string& { return state.info.key; });
}
const std::string& Device::name() const noexcept {
    return text_of(*this, [](const DeviceState& state) -> const std::string& { return state.info.name; });
}
const std::string& Device::description() const noexcept {
    return text_of(*this, [](const DeviceState& state) -> const std::string& { return state.description; });
}

CurrentDevice::CurrentDevice(const DeviceState& state) {
    if (state.info.kind != DeviceKind::cuda) return;
    const int current = device::current();
    if (current == state.ordinal) return;
    device::make_current(state.ordinal);
    previous_ = current;
}

CurrentDevice::~CurrentDevice() {
    if (previous_ < 0) return;
    try {
        device::make_current(previous_);
    } catch (...) {
        // The GPU that was current has gone; the caller's next call to it will say so.
    }
}

}  // namespace espalier::inline v1
