// On a GPU copying has a stream of its own, so that the copy engine and the multiprocessors work at once.

#include <fmt/format.h>

#include <optional>

#include "harness/apps/sessions/coherence_pipeline.hpp"
#include "harness/base/clock.hpp"
#include "harness/base/range.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench::apps {
namespace {

/// Host memory of either kind.
class Staging {
public:
    Staging(std::size_t bytes, bool pinned) {
        if (pinned)
            pinned_ = device::PinnedBuffer(bytes);
        else
            pageable_ = std::make_unique<std::byte[]>(bytes);
    }
    [[nodiscard]] std::byte* data() const { return pageable_ ? pageable_.get() : pinned_.data(); }

private:
    device::PinnedBuffer pinned_;
    std::unique_ptr<std::byte[]> pageable_;
};

struct Slot {
    Slot(std::size_t trace_bytes, std::size_t sum_bytes, std::size_t sources, bool pinned)
        : host_traces(trace_bytes, pinned),
          traces(trace_bytes),
          sums(sum_bytes),
          maximum(sources * sizeof(float)),
          sample(sources * sizeof(std::int32_t)),
          host_maximum(maximum.size()),
          host_sample(sample.size()) {}

    Staging host_traces;
    device::Buffer traces, sums, maximum, sample;
    device::PinnedBuffer host_maximum, host_sample;  ///< pinned in any case: they are small and not measured
    device::Event copy_begins, copied, sum_begins, summed, sums_leave, sums_arrived;
};

class GpuPipeline final : public CoherencePipeline {
public:
    GpuPipeline(const Device& device, const PipelineSettings& settings, const std::int32_t* delays)
        : CoherencePipeline(device, settings), delays_(delays) {
        const CurrentDevice current(state_of(device_));
        copy_stream_.emplace();
        sum_stream_.emplace();
        back_stream_.emplace();
        workspace_ = device::Buffer(workspace_bytes());
        copies_ = device::Buffer(copies_bytes());
        for (int i = 0; i < (settings.double_buffering ? 2 : 1); ++i)
            slots_.push_back(std::make_unique<Slot>(trace_bytes(settings.window), sums_bytes(settings.window),
                                                    static_cast<std::size_t>(settings.sources), settings.pinned));
        for (std::int64_t i = 0; i < (settings.keep_sums ? sums_kept() : 0); ++i)
            host_sums_.push_back(std::make_unique<Staging>(sums_bytes(settings.window), settings.pinned));
    }

    ~GpuPipeline() override {
        try {
            const CurrentDevice current(state_of(device_));
            device::synchronize(copy_stream_->get());
            device::synchronize(sum_stream_->get());
            device::synchronize(back_stream_->get());
        } catch (const device::DeviceError&) {
            // Something else has failed already and is on its way to the user.
        }
    }

    std::vector<float*> host_slots() override {
        std::vector<float*> slots;
        for (const auto& slot : slots_) slots.push_back(reinterpret_cast<float*>(slot->host_traces.data()));
        return slots;
    }

    void start(const seismic::Window& window) override {
        const CurrentDevice current(state_of(device_));
        const device::Range range(fmt::format("copy window {}", window.number));
        Slot& slot = *slots_[window.slot];

        // The sums of the window before last have left this slot: its `finish` has waited for them.
        slot.copy_begins.record(copy_stream_->get());
        device::copy_to_device(slot.traces.data(), slot.host_traces.data(), trace_bytes(window.samples),
                               copy_stream_->get());
        slot.copied.record(copy_stream_->get());
        slot.copied.make_wait(sum_stream_->get());
        sum(slot, window.samples);
        if (settings_.keep_sums) bring_back(slot, window);
        slot.copied.wait_for();  // the reader may have the host memory back; the sums go on
    }

    Peaks finish(const seismic::Window& window) override {
        const CurrentDevice current(state_of(device_));
        const device::Range range(fmt::format("sum window {}", window.number));
        const Slot& slot = *slots_[window.slot];
        slot.summed.wait_for();
        copied_bytes_ += static_cast<double>(trace_bytes(window.samples));
        copy_seconds_ += slot.copied.nanoseconds_since(slot.copy_begins) * 1e-9;
        sum_seconds_ += slot.summed.nanoseconds_since(slot.sum_begins) * 1e-9;
        const auto sources = static_cast<std::size_t>(settings_.sources);
        const std::span maximum{reinterpret_cast<float*>(slot.host_maximum.data()), sources};
        const std::span sample{reinterpret_cast<std::int32_t*>(slot.host_sample.data()), sources};
        if (settings_.keep_sums) {
            {
                const Stopwatch waiting(sums_waited_seconds_);
                slot.sums_arrived.wait_for();
            }
            sums_copy_seconds_ += slot.sums_arrived.nanoseconds_since(slot.sums_leave) * 1e-9;
            find_peaks(sums(window), maximum, sample);
        }
        return {maximum, sample};
    }

    [[nodiscard]] std::span<const float> sums(const seismic::Window& window) const override {
        return {reinterpret_cast<const float*>(host_sums(window).data()), sums_bytes(window.samples) / sizeof(float)};
    }

protected:
    void grow_workspace() override {
        const CurrentDevice current(state_of(device_));
        if (workspace_bytes() > workspace_.size()) workspace_ = device::Buffer(workspace_bytes());
    }

private:
    [[nodiscard]] const Staging& host_sums(const seismic::Window& window) const {
        return *host_sums_[static_cast<std::size_t>(window.number) % host_sums_.size()];
    }

    /// On a stream of its own: the next window's traces come and are summed meanwhile.
    void bring_back(Slot& slot, const seismic::Window& window) {
        const espalier::Stream stream = back_stream_->get();
        slot.summed.make_wait(stream);
        slot.sums_leave.record(stream);
        device::copy_to_host(host_sums(window).data(), slot.sums.data(), sums_bytes(window.samples), stream);
        slot.sums_arrived.record(stream);
    }

    void sum(Slot& slot, std::int64_t samples) {
        const espalier::Stream stream = sum_stream_->get();
        slot.sum_begins.record(stream);
        run(samples,
            {.traces = slot.traces.as<const float>(),
             .delays = delays_,
             .maximum = slot.maximum.as<float>(),
             .sample = slot.sample.as<std::int32_t>(),
             .sums = slot.sums.as<float>(),
             .copies = copies_.as<float>(),
             .workspace = {workspace_.data(), workspace_.size()}},
            stream);
        if (!settings_.keep_sums) {
            device::copy_to_host(slot.host_maximum.data(), slot.maximum.data(), slot.maximum.size(), stream);
            device::copy_to_host(slot.host_sample.data(), slot.sample.data(), slot.sample.size(), stream);
        }
        slot.summed.record(stream);
    }

    const std::int32_t* delays_;
    std::optional<device::OwnedStream> copy_stream_, sum_stream_, back_stream_;
    device::Buffer workspace_, copies_;
    std::vector<std::unique_ptr<Slot>> slots_;
    std::vector<std::unique_ptr<Staging>> host_sums_;
};

}  // namespace

std::unique_ptr<CoherencePipeline> make_gpu_pipeline(const Device& device, const PipelineSettings& settings,
                                                     const std::int32_t* delays) {
    return std::make_unique<GpuPipeline>(device, settings, delays);
}

}  // namespace espalier::bench::apps
