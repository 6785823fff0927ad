#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "espalier/coherent_sum.hpp"
#include "espalier/device.hpp"
#include "espalier/polyphase.hpp"
#include "harness/apps/seismic/window_reader.hpp"

namespace espalier::bench::apps {

struct PipelineSettings {
    std::int64_t receivers = 0, sources = 0;
    std::int64_t window = 0;       ///< samples of every window but the last
    std::int64_t last_window = 0;  ///< samples of the last one
    std::int64_t span = 0;         ///< samples that follow each window for the longest delay
    std::int64_t phases = 1;       ///< steps of a delay within a sample; more than one: linear interpolation
    SumPrecision precision = SumPrecision::single;
    bool double_buffering = true;  ///< else one window is done with before the next is read
    bool pinned = true;            ///< page-locked host memory, for a GPU
    bool keep_sums = false;        ///< all sums come back to the host, and the peaks are found there
    std::string variant;           ///< instead of the selector's choice; may be empty
};

/// Per trial source the largest sum of a window, and the sample of the window at which it occurs.
struct Peaks {
    std::span<const float> maximum;
    std::span<const std::int32_t> sample;
};

/// How many windows' sums the host holds where they are kept: one that arrives while the two before it are handed on.
inline constexpr std::int64_t kWindowsOfSums = 3;

/// Windows of traces on their way through a device: filled by a reader in host memory, copied, summed, and their
/// peaks brought back. For delays in fractions of a sample the traces become copies in several phases on the device
/// first. With double buffering there are two slots, and while one window is summed the next is copied
/// and the one after it read.
class CoherencePipeline {
public:
    virtual ~CoherencePipeline() = default;

    /// Host memory for the reader: receivers x (window + span) values per slot.
    [[nodiscard]] virtual std::vector<float*> host_slots() = 0;

    /// Begins with a window. When this returns its slot's host memory is free again, unless there is one slot only:
    /// then nothing is read before `finish`.
    virtual void start(const seismic::Window& window) = 0;

    /// Waits for a window. The peaks are valid until its slot is started again.
    virtual Peaks finish(const seismic::Window& window) = 0;

    /// A finished window's sums, sources x window.samples, if they are kept: valid until the window `sums_kept` numbers
    /// later is started.
    [[nodiscard]] virtual std::span<const float> sums(const seismic::Window& window) const = 0;
    [[nodiscard]] std::int64_t sums_kept() const { return settings_.double_buffering ? kWindowsOfSums : 1; }

    /// The last window has this many samples, which nobody knew before. No window may be under way.
    void set_last_window(std::int64_t samples);

    [[nodiscard]] double copy_seconds() const { return copy_seconds_; }
    /// Seconds of bringing sums to the host, and of those the ones that `finish` waited for.
    [[nodiscard]] double sums_copy_seconds() const { return sums_copy_seconds_; }
    [[nodiscard]] double sums_waited_seconds() const { return sums_waited_seconds_; }
    [[nodiscard]] double sum_seconds() const { return sum_seconds_; }
    [[nodiscard]] double copied_bytes() const { return copied_bytes_; }  ///< traces, host to device

    /// What runs for full windows: "coherent_sum/global_cached (block=256)", and why.
    [[nodiscard]] std::string ran() const;
    [[nodiscard]] std::string explanation() const;

protected:
    CoherencePipeline(const Device& device, const PipelineSettings& settings);

    /// Makes the workspace at least as large as `workspace_bytes` says now.
    virtual void grow_workspace() = 0;

    [[nodiscard]] std::size_t workspace_bytes() const;  ///< for either length of window
    [[nodiscard]] std::size_t copies_bytes() const;     ///< of the copies in several phases; 0 without
    [[nodiscard]] std::size_t trace_bytes(std::int64_t samples) const;
    [[nodiscard]] std::size_t sums_bytes(std::int64_t samples) const;  ///< 0 where they are not kept

    /// Memory of one run, on the device.
    struct RunMemory {
        const float* traces;
        const std::int32_t* delays;
        float* maximum;
        std::int32_t* sample;
        float* sums;    ///< of `sums_bytes`, instead of the two before where they are kept
        float* copies;  ///< of `copies_bytes`
        std::span<std::byte> workspace;
    };

    /// Enqueues all work on a window's traces.
    void run(std::int64_t samples, const RunMemory& memory, espalier::Stream stream) const;

    Device device_;
    PipelineSettings settings_;
    double copy_seconds_ = 0, sum_seconds_ = 0, copied_bytes_ = 0;
    double sums_copy_seconds_ = 0, sums_waited_seconds_ = 0;

private:
    struct Plans {
        CoherentSumShape shape;
        CoherentSumPlan sum;
        std::optional<InterpolationPlan> interpolation;
    };
    [[nodiscard]] Plans plans_for(std::int64_t samples) const;
    [[nodiscard]] const Plans& plans_of(std::int64_t samples) const;

    Plans full_, last_;
};

/// Per row of `sums`, which has `maximum.size()` of them, its largest value and where, the first of equal ones.
void find_peaks(std::span<const float> sums, std::span<float> maximum, std::span<std::int32_t> sample);

/// `delays`: sources x receivers in 0..span, where the device reaches them, for the pipeline's life.
/// Throws Failure for a variant that does not exist or cannot run this, DeviceError or std::bad_alloc for memory.
std::unique_ptr<CoherencePipeline> make_coherence_pipeline(const Device& device, const PipelineSettings& settings,
                                                           const std::int32_t* delays);

/// The two kinds, for the function above.
std::unique_ptr<CoherencePipeline> make_cpu_pipeline(const Device& device, const PipelineSettings& settings,
                                                     const std::int32_t* delays);
std::unique_ptr<CoherencePipeline> make_gpu_pipeline(const Device& device, const PipelineSettings& settings,
                                                     const std::int32_t* delays);

}  // namespace espalier::bench::apps
