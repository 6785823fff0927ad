#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "espalier/device.hpp"
#include "harness/apps/seismic/geometry.hpp"
#include "harness/apps/seismic/record.hpp"
#include "harness/apps/seismic/window_reader.hpp"
#include "harness/apps/sessions/coherence_pipeline.hpp"
#include "harness/apps/sessions/sums_file.hpp"
#include "harness/base/bench_memory.hpp"

namespace espalier::bench::apps {

struct LocateSettings {
    seismic::Grid grid;
    double velocity = 0;          ///< metres per second, if there is no table
    std::string travel_times;     ///< file of nodes x receivers seconds in single precision, instead of a velocity
    std::int64_t window = 12000;  ///< samples
    std::int64_t phases = 1;      ///< 1: delays to the nearest sample; more: linear interpolation in such steps
    SumPrecision precision = SumPrecision::single;
    bool double_buffering = true, pinned = true;
    std::string variant;                          ///< instead of the selector's choice; may be empty
    std::string save_sums;                        ///< file of all sums; may be empty
    std::optional<seismic::Following> following;  ///< the record grows
};

/// The largest sum of a window or of the record, and where and when it is.
struct Location {
    std::int64_t node = -1;
    float coherence = 0;
    std::int64_t sample = -1;  ///< of the record: the time of emission
};

/// Per node of the grid the largest sum of all windows so far.
struct CoherenceCube {
    std::vector<float> maximum;
    std::vector<std::int64_t> sample;

    [[nodiscard]] Location best() const;
};

/// Where the seconds of a run went. Reading, copying, summing and saving sums overlap.
struct LocateTimes {
    double wall = 0;     ///< but for `awaited`
    double awaited = 0;  ///< with nothing to do: a record that grows had no window yet
    double read = 0, copy = 0, sum = 0;
    double write = 0, copy_back = 0;  ///< of all sums, to a file and before that to the host
    double waited = 0;                ///< for these two

    /// The share of reading and copying that took no time of its own, because the device was summing meanwhile.
    [[nodiscard]] double overlap() const;
    /// The same of writing sums and copying them back.
    [[nodiscard]] double saving_overlap() const;

private:
    /// What saving sums added to the wall clock: waiting for it while nothing was summed.
    [[nodiscard]] double saving_exposed() const;
};

/// Sums a record coherently, window by window.
class LocateSession {
public:
    /// Computes the delays on the device. Throws Failure or BadFile for what does not fit together.
    LocateSession(const Device& device, seismic::Record& record, const seismic::Receivers& receivers,
                  const LocateSettings& settings);

    /// Runs through the record; `progress` is told of each window.
    void run(const std::function<void(const seismic::Window&, const Location&)>& progress);

    /// Samples that a window needs after its own: the longest delay, rounded up.
    [[nodiscard]] std::int64_t span() const { return span_; }
    /// The longest delay, and the largest difference between two receivers' delays from one node (by velocity: of the
    /// nodes at the grid's corners), in samples and not rounded.
    [[nodiscard]] double longest_delay() const { return longest_delay_; }
    [[nodiscard]] double widest_spread() const { return widest_spread_; }
    /// A node's delays at the receivers, in samples and not rounded.
    [[nodiscard]] std::vector<double> delays_of(std::int64_t node) const;
    [[nodiscard]] std::int64_t window() const { return window_; }
    [[nodiscard]] std::int64_t windows() const { return (record_.samples() + window_ - 1) / window_; }
    /// Windows so far that had no sample of any receiver, and were not summed.
    [[nodiscard]] std::int64_t silent_windows() const { return silent_windows_; }
    [[nodiscard]] const CoherenceCube& cube() const { return cube_; }
    [[nodiscard]] const LocateTimes& times() const { return times_; }
    [[nodiscard]] seismic::FollowEnd follow_end() const { return follow_end_; }
    [[nodiscard]] const std::string& delays_from() const { return delays_from_; }
    [[nodiscard]] const CoherencePipeline& pipeline() const { return *pipeline_; }
    [[nodiscard]] const SumsFile* sums_file() const { return sums_.get(); }  ///< null if sums are not saved

private:
    void compute_delays(const seismic::Receivers& receivers);
    void read_delays();
    void check_span() const;
    void check_row() const;
    std::optional<seismic::Window> next(seismic::WindowReader& reader);
    [[nodiscard]] std::int64_t row() const { return window_ + span_; }
    void check_memory() const;
    [[nodiscard]] Peaks finish(const seismic::Window& window);
    void note_spread(std::span<const double> delays);
    Location merge(const seismic::Window& window, const Peaks& peaks);

    Device device_;
    seismic::Record& record_;
    LocateSettings settings_;
    std::vector<seismic::Point> positions_;
    std::vector<float> weights_;
    std::int64_t window_ = 0, span_ = 0, silent_windows_ = 0;
    double longest_delay_ = 0, widest_spread_ = 0;
    BenchMemory delays_;
    std::string delays_from_;
    std::unique_ptr<CoherencePipeline> pipeline_;
    std::unique_ptr<SumsFile> sums_;  ///< goes before the pipeline, whose memory it writes from
    CoherenceCube cube_;
    LocateTimes times_;
    seismic::FollowEnd follow_end_ = seismic::FollowEnd::not_followed;
};

}  // namespace espalier::bench::apps
