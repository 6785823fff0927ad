// On the CPU the slots that are read into are summed from: there is nothing to copy.

#include <fmt/format.h>

#include "harness/apps/sessions/coherence_pipeline.hpp"
#include "harness/base/bench_memory.hpp"
#include "harness/base/clock.hpp"
#include "harness/base/range.hpp"

namespace espalier::bench::apps {
namespace {

class CpuPipeline final : public CoherencePipeline {
public:
    CpuPipeline(const Device& device, const PipelineSettings& settings, const std::int32_t* delays)
        : CoherencePipeline(device, settings),
          delays_(delays),
          workspace_(DeviceKind::cpu, workspace_bytes()),
          copies_(DeviceKind::cpu, copies_bytes()) {
        for (int i = 0; i < (settings.double_buffering ? 2 : 1); ++i)
            slots_.push_back({BenchMemory(DeviceKind::cpu, trace_bytes(settings.window)),
                              std::vector<float>(static_cast<std::size_t>(settings.sources)),
                              std::vector<std::int32_t>(static_cast<std::size_t>(settings.sources))});
        for (std::int64_t i = 0; i < (settings.keep_sums ? sums_kept() : 0); ++i)
            sums_.emplace_back(DeviceKind::cpu, sums_bytes(settings.window));
    }

    std::vector<float*> host_slots() override {
        std::vector<float*> slots;
        for (auto& slot : slots_) slots.push_back(reinterpret_cast<float*>(slot.traces.data()));
        return slots;
    }

    void start(const seismic::Window& window) override {
        const device::Range range(fmt::format("sum window {}", window.number));
        const Stopwatch stopwatch(sum_seconds_);
        Slot& slot = slots_[window.slot];
        run(window.samples,
            {.traces = reinterpret_cast<const float*>(slot.traces.data()),
             .delays = delays_,
             .maximum = slot.maximum.data(),
             .sample = slot.sample.data(),
             .sums = settings_.keep_sums ? sums_of(window) : nullptr,
             .copies = reinterpret_cast<float*>(copies_.data()),
             .workspace = {workspace_.data(), workspace_.size()}},
            nullptr);
        if (settings_.keep_sums) find_peaks(sums(window), slot.maximum, slot.sample);
    }

    Peaks finish(const seismic::Window& window) override {
        return {slots_[window.slot].maximum, slots_[window.slot].sample};
    }

    [[nodiscard]] std::span<const float> sums(const seismic::Window& window) const override {
        return {sums_of(window), sums_bytes(window.samples) / sizeof(float)};
    }

protected:
    void grow_workspace() override {
        if (workspace_bytes() > workspace_.size()) workspace_ = BenchMemory(DeviceKind::cpu, workspace_bytes());
    }

private:
    [[nodiscard]] float* sums_of(const seismic::Window& window) const {
        return reinterpret_cast<float*>(sums_[static_cast<std::size_t>(window.number) % sums_.size()].data());
    }

    struct Slot {
        BenchMemory traces;
        std::vector<float> maximum;
        std::vector<std::int32_t> sample;
    };

    const std::int32_t* delays_;
    std::vector<Slot> slots_;
    std::vector<BenchMemory> sums_;
    BenchMemory workspace_, copies_;
};

}  // namespace

std::unique_ptr<CoherencePipeline> make_cpu_pipeline(const Device& device, const PipelineSettings& settings,
                                                     const std::int32_t* delays) {
    return std::make_unique<CpuPipeline>(device, settings, delays);
}

}  // namespace espalier::bench::apps
