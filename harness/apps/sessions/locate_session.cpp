#include "harness/apps/sessions/locate_session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "espalier/travel_time.hpp"
#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/base/clock.hpp"
#include "harness/base/failure.hpp"
#include "harness/base/text/counted.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/problems/travel_time.hpp"

namespace espalier::bench::apps {
namespace {

/// What the model's delays may be off by against those computed here: rounding errors of a travel time that lies
/// between two samples may go either way on another processor.
constexpr std::int64_t kRoundingMargin = 1;

constexpr double kMostDelay = 1 << 30;

/// What follows the longest delay, so that it is surely in the row: the sample that interpolation looks at beyond it.
std::int64_t rounded_up(double longest, std::int64_t phases) {
    return static_cast<std::int64_t>(std::floor(longest + 0.5)) + kRoundingMargin + (phases > 1 ? 1 : 0);
}

void check_receivers(const seismic::Record& record, const seismic::Receivers& receivers) {
    if (record.receivers() == receivers.count()) return;
    throw Failure(
        ExitCode::bad_data,
        fmt::format("the record has {} at a time, but there are coordinates of {}; they must be as many, and in the "
                    "same order",
                    counted(record.receivers(), "trace"), counted(receivers.count(), "receiver")));
}

}  // namespace

Location CoherenceCube::best() const {
    Location best;
    for (std::size_t node = 0; node < maximum.size(); ++node) {
        const bool better = best.node < 0 || maximum[node] > best.coherence;
        if (better && sample[node] >= 0) best = {static_cast<std::int64_t>(node), maximum[node], sample[node]};
    }
    return best;
}

double LocateTimes::overlap() const {
    const double fetching = read + copy;
    return fetching > 0 ? std::clamp(1 - (wall - sum - saving_exposed()) / fetching, 0.0, 1.0) : 0;
}

double LocateTimes::saving_overlap() const {
    const double saving = write + copy_back;
    return saving > 0 ? std::clamp(1 - saving_exposed() / saving, 0.0, 1.0) : 0;
}

double LocateTimes::saving_exposed() const { return std::clamp(wall - sum, 0.0, waited); }

LocateSession::LocateSession(const Device& device, seismic::Record& record, const seismic::Receivers& receivers,
                             const LocateSettings& settings)
    : device_(device),
      record_(record),
      settings_(settings),
      positions_(receivers.positions),
      weights_(receivers.weights),
      window_(settings.following ? settings.window : std::min(settings.window, record.samples())),
      delays_(state_of(device).info.kind, 0) {
    check_receivers(record, receivers);
    if (!settings.save_sums.empty())
        sums_ = std::make_unique<SumsFile>(settings.save_sums, settings.grid.nodes(), record.samples());
    const CurrentDevice current(state_of(device_));
    delays_ = BenchMemory(state_of(device).info.kind,
                          static_cast<std::size_t>(settings.grid.nodes() * receivers.count()) * sizeof(std::int32_t));
    if (settings.travel_times.empty())
        compute_delays(receivers);
    else
        read_delays();
    if (device_.is_cuda()) device::synchronize();  // the pipeline's streams do not wait for the default one
    check_memory();
    const std::int64_t rest = settings.following ? 0 : record.samples() % window_;  // else known at the end
    pipeline_ = make_coherence_pipeline(device,
                                        {.receivers = receivers.count(),
                                         .sources = settings.grid.nodes(),
                                         .window = window_,
                                         .last_window = rest > 0 ? rest : window_,
                                         .span = span_,
                                         .phases = settings.phases,
                                         .precision = settings.precision,
                                         .double_buffering = settings.double_buffering,
                                         .pinned = settings.pinned,
                                         .keep_sums = sums_ != nullptr,
                                         .variant = settings.variant},
                                        reinterpret_cast<const std::int32_t*>(delays_.data()));
    cube_.maximum.assign(static_cast<std::size_t>(settings.grid.nodes()), 0);
    cube_.sample.assign(cube_.maximum.size(), -1);
}

void LocateSession::compute_delays(const seismic::Receivers& receivers) {
    const seismic::Grid& grid = settings_.grid;
    const double samples_per_metre = record_.rate() / settings_.velocity;
    const double longest = longest_path(grid, receivers) * samples_per_metre;
    if (!(longest < kMostDelay))
        throw Failure(ExitCode::usage,
                      fmt::format("the longest delay would be {:.3g} samples; are --velocity, the grid "
                                  "and the receivers in metres?",
                                  longest));
    longest_delay_ = longest;
    span_ = rounded_up(longest, settings_.phases);
    check_row();
    for (int corner = 0; corner < 8; ++corner) note_spread(delays_of(seismic::corner_of(grid, corner)));

    const DelayRule rule{samples_per_metre, settings_.phases, row()};
    const Options options{.memory = device_.is_cuda() ? Memory::device : Memory::host};
    succeed_or_fail(espalier::compute_delays(device_, receivers.positions, grid, rule,
                                             reinterpret_cast<std::int32_t*>(delays_.data()), options));
    const Explanation what = value_or_fail(explain_compute_delays(device_, receivers.count(), grid, rule));
    delays_from_ = fmt::format("travel_time/{}, {} m/s", what.variant, settings_.velocity);
}

/// The file twice: what a delay is as a number depends on the longest of them where they are interpolated.
void LocateSession::read_delays() {
    const std::string& path = settings_.travel_times;
    const std::int64_t receivers = record_.receivers(), nodes = settings_.grid.nodes();
    const io::File file = io::open_for_reading(path);
    const auto each_node = [&](const std::function<void(std::int64_t, std::span<const float>)>& use) {
        std::vector<float> times(static_cast<std::size_t>(receivers));
        std::rewind(file.get());
        for (std::int64_t node = 0; node < nodes; ++node) {
            if (std::fread(times.data(), sizeof(float), times.size(), file.get()) != times.size())
                throw io::BadFile(path,
                                  fmt::format("ends within node {}; travel times of {} nodes and {} receivers are {} "
                                              "bytes of single precision",
                                              node, nodes, receivers, 4 * nodes * receivers));
            use(node, times);
        }
        if (std::fgetc(file.get()) != EOF)
            throw io::BadFile(path,
                              fmt::format("holds more than the travel times of {} nodes and {} receivers; is --grid "
                                          "that of the table?",
                                          nodes, receivers));
    };
    double longest = 0;
    each_node([&](std::int64_t node, std::span<const float> times) {
        std::vector<double> in_samples;
        for (std::size_t r = 0; r < times.size(); ++r) {
            const double samples = static_cast<double>(times[r]) * record_.rate();
            if (!(samples >= 0 && samples < kMostDelay))
                throw io::BadFile(path,
                                  fmt::format("the travel time from node {} to receiver {} is {} s; it must be 0 or "
                                              "more, and finite",
                                              node, r, times[r]));
            longest = std::max(longest, samples);
            in_samples.push_back(samples);
        }
        note_spread(in_samples);
    });
    longest_delay_ = longest;
    span_ = rounded_up(longest, settings_.phases);
    check_row();
    each_node([&](std::int64_t node, std::span<const float> times) {
        std::vector<std::int32_t> delays;
        for (const float time : times)
            delays.push_back(
                travel_time::delay_of(static_cast<double>(time) * record_.rate(), settings_.phases, row()));
        delays_.store(static_cast<std::size_t>(node * receivers) * sizeof(std::int32_t),
                      std::as_bytes(std::span(delays)));
    });
    delays_from_ = "travel times of " + path;
}

std::vector<double> LocateSession::delays_of(std::int64_t node) const {
    std::vector<double> delays;
    if (settings_.travel_times.empty()) {
        const seismic::Point at = seismic::position(settings_.grid, node);
        for (const seismic::Point& receiver : positions_)
            delays.push_back(seismic::distance(at, receiver) * record_.rate() / settings_.velocity);
        return delays;
    }
    std::vector<float> times(positions_.size());
    const io::File file = io::open_for_reading(settings_.travel_times);
    const auto bytes = static_cast<off_t>(times.size() * sizeof(float));
    if (fseeko(file.get(), node * bytes, SEEK_SET) != 0 ||
        std::fread(times.data(), sizeof(float), times.size(), file.get()) != times.size())
        throw io::BadFile(settings_.travel_times, "cannot be read any more; was it changed?");
    for (const float time : times) delays.push_back(static_cast<double>(time) * record_.rate());
    return delays;
}

void LocateSession::note_spread(std::span<const double> delays) {
    const auto [least, most] = std::minmax_element(delays.begin(), delays.end());
    widest_spread_ = std::max(widest_spread_, *most - *least);
}

void LocateSession::check_row() const {
    if (!settings_.following) check_span();
    if (row() * settings_.phases > std::numeric_limits<std::int32_t>::max())
        throw Failure(ExitCode::usage, "--window and the longest delay are too long together; use a shorter window");
}

/// A delay longer than the record means that no source was ever heard everywhere: the units must be wrong.
void LocateSession::check_span() const {
    if (span_ >= record_.samples())
        throw Failure(ExitCode::usage,
                      fmt::format("the longest delay is {}, but the record has {}: no event reaches all receivers "
                                  "within it; check the velocity, the grid and the units",
                                  counted(span_, "sample"), record_.samples()));
}

void LocateSession::check_memory() const {
    const std::size_t slot = static_cast<std::size_t>(record_.receivers() * row()) * sizeof(float);
    const auto copies = static_cast<std::size_t>(settings_.phases > 1 ? settings_.phases : 0);
    const std::size_t slots = settings_.double_buffering ? 2 : 1;
    const DeviceInfo& info = state_of(device_).info;
    const std::size_t sums = static_cast<std::size_t>(settings_.grid.nodes() * window_) * sizeof(float);
    const std::size_t kept = !sums_ ? 0 : device_.is_cuda() || slots == 1 ? slots : kWindowsOfSums;
    const std::size_t needed = slot * (slots + copies) + sums * kept;
    const std::size_t there = device_.is_cuda() ? device::memory_state().free : info.memory_bytes;
    if (needed <= there) return;
    throw Failure(ExitCode::usage,
                  fmt::format("windows of {} samples and delays up to {} at {} receivers{} need {} MiB, but "
                              "{} has {}; use a shorter --window",
                              window_, span_, record_.receivers(),
                              sums_ ? fmt::format(" with sums of {}", counted(settings_.grid.nodes(), "node")) : "",
                              needed >> 20, device_.key(), there >> 20));
}

void LocateSession::run(const std::function<void(const seismic::Window&, const Location&)>& progress) {
    const double start = steady_seconds();
    seismic::WindowReader reader(record_, pipeline_->host_slots(), window_, span_, weights_, settings_.following);
    std::optional<seismic::Window> running;
    const auto finish_window = [&](const seismic::Window& window) { progress(window, merge(window, finish(window))); };
    const auto finish_running = [&] {
        if (running) finish_window(*running);
        running.reset();
    };
    // What silence sums up to, at once: hours of it take no time.
    const std::vector<float> no_sums(cube_.maximum.size(), 0);
    const std::vector<std::int32_t> first_samples(cube_.maximum.size(), 0);
    while (true) {
        if (settings_.following && !reader.ready()) finish_running();  // the next one may be long in coming
        const auto window = next(reader);
        if (!window) break;
        if (window->silent) {
            finish_running();
            ++silent_windows_;
            progress(*window, merge(*window, {no_sums, first_samples}));
            reader.release(*window);
            continue;
        }
        if (settings_.following && window->samples < window_) {
            finish_running();
            pipeline_->set_last_window(window->samples);
        }
        if (sums_) sums_->wait_for(window->number - pipeline_->sums_kept());
        pipeline_->start(*window);
        if (settings_.double_buffering) {
            reader.release(*window);
            finish_running();
            running = window;
        } else {
            finish_window(*window);
            reader.release(*window);
        }
    }
    finish_running();
    if (sums_) sums_->commit();
    follow_end_ = reader.follow_end();
    times_ = {.wall = steady_seconds() - start - times_.awaited,
              .awaited = times_.awaited,
              .read = reader.read_seconds(),
              .copy = pipeline_->copy_seconds(),
              .sum = pipeline_->sum_seconds(),
              .write = sums_ ? sums_->write_seconds() : 0,
              .copy_back = pipeline_->sums_copy_seconds(),
              .waited = pipeline_->sums_waited_seconds() + (sums_ ? sums_->waited_seconds() : 0)};
    check_span();  // of a record that grew it is known only now
}

/// The next window, and how long there was nothing to do before it.
std::optional<seismic::Window> LocateSession::next(seismic::WindowReader& reader) {
    const double begin = steady_seconds();
    const auto window = reader.next();
    if (settings_.following) {
        const double waited = steady_seconds() - begin;
        times_.awaited += window ? std::min(waited, window->awaited) : waited;
    }
    return window;
}

Peaks LocateSession::finish(const seismic::Window& window) {
    const Peaks peaks = pipeline_->finish(window);
    if (!sums_) return peaks;
    sums_->write(window, pipeline_->sums(window));
    if (!settings_.double_buffering) sums_->wait_for(window.number);
    return peaks;
}

Location LocateSession::merge(const seismic::Window& window, const Peaks& peaks) {
    Location best;
    for (std::size_t node = 0; node < cube_.maximum.size(); ++node) {
        const float sum = peaks.maximum[node];
        const std::int64_t sample = window.first + peaks.sample[node];
        if (best.node < 0 || sum > best.coherence) best = {static_cast<std::int64_t>(node), sum, sample};
        if (cube_.sample[node] >= 0 && sum <= cube_.maximum[node]) continue;
        cube_.maximum[node] = sum;
        cube_.sample[node] = sample;
    }
    return best;
}

}  // namespace espalier::bench::apps
