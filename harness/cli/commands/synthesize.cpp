// espalier synthesize: writes a record of noise and events whose place and time are known.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/apps/seismic/synthetic.hpp"
#include "harness/base/clock.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/progress.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stdout.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/parse.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/seismic_options.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kNotGiven = std::numeric_limits<double>::lowest();
constexpr std::int64_t kNoCount = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMostEvents = 1'000'000;
constexpr std::int64_t kMostFiles = 1 << 20;  // an index has no more

struct SynthesizeOptions {
    std::string folder, receivers_path, duration = "60s", file_length = "10s";
    std::int64_t receivers = 1920, event_count = kNoCount;
    double aperture = kNotGiven, frequency = kNotGiven;
    double snr = 1;
    std::uint64_t max_size = 100'000'000'000;
    GridOptions grid;
    std::vector<std::string> events, gaps;
    seismic::SyntheticRecord record;
    bool json = false, quiet = false;
};

/// A file to write: samples [first, first + samples) of all receivers.
struct Part {
    std::string name;
    std::int64_t first = 0, samples = 0;
};

struct Interval {
    std::int64_t begin = 0, end = 0;
};

seismic::Receivers receivers_of(const SynthesizeOptions& options, const seismic::Grid& grid) {
    if (!options.receivers_path.empty()) {
        auto receivers = seismic::read_receivers(options.receivers_path);
        for (std::int64_t r = 0; receivers.names.empty() && r < receivers.count(); ++r)
            receivers.names.push_back(fmt::format("R{:05}", r + 1));
        return receivers;
    }
    const double width = std::abs(grid.spacing.x) * static_cast<double>(grid.columns - 1),
                 depth = std::abs(grid.spacing.y) * static_cast<double>(grid.rows - 1);
    const seismic::Point last = seismic::position(grid, grid.nodes() - 1);
    const seismic::Point centre{(grid.origin.x + last.x) / 2, (grid.origin.y + last.y) / 2, 0};
    const double aperture = options.aperture != kNotGiven ? options.aperture : std::max({2 * width, 2 * depth, 1000.0});
    return seismic::scattered_receivers(options.receivers, centre, aperture, options.record.seed);
}

/// When the nearest receiver hears it.
double first_arrival(const seismic::Event& event, const seismic::SyntheticRecord& record) {
    double nearest = INFINITY;
    for (const seismic::Point& receiver : record.receivers.positions)
        nearest = std::min(nearest, seismic::distance(event.position, receiver));
    return event.time + nearest / record.velocity;
}

std::vector<seismic::Event> events_of(const SynthesizeOptions& options, const seismic::Grid& grid, double seconds) {
    const std::int64_t count = options.event_count != kNoCount ? options.event_count : options.events.empty() ? 1 : 0;
    auto events = seismic::random_events(count, grid, seconds, options.record.rate, options.record.seed);
    for (const std::string& text : options.events) {
        const auto n = parse_numbers(text, 4, "--event");
        const seismic::Event event{{n[0], n[1], n[2]}, n[3]};
        if (!(event.time >= 0 && first_arrival(event, options.record) < seconds))
            throw Failure(
                ExitCode::usage,
                fmt::format("--event {} is not within the record of {} s: x,y,z in metres, the time in seconds "
                            "from its beginning, and it must reach a receiver before the end",
                            text, seconds));
        events.push_back(event);
    }
    return events;
}

std::vector<Interval> gaps_of(const SynthesizeOptions& options, std::int64_t samples) {
    std::vector<Interval> gaps;
    for (const std::string& text : options.gaps) {
        const auto n = parse_numbers(text, 2, "--gap");
        const double begin = std::round(n[0] * options.record.rate),
                     end = std::round((n[0] + n[1]) * options.record.rate);
        if (!(begin >= 1 && end > begin && end < static_cast<double>(samples)))
            throw Failure(ExitCode::usage, "--gap " + text + " is not within the record: start,duration in seconds");
        gaps.push_back({static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end)});
    }
    std::sort(gaps.begin(), gaps.end(), [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    return gaps;
}

/// The record without its gaps, cut into files; a gap ends a file.
std::vector<Part> parts_of(std::int64_t samples, std::int64_t file_length, std::vector<Interval> gaps) {
    gaps.push_back({samples, samples});
    std::vector<Part> parts;
    std::int64_t at = 0;
    for (const Interval& gap : gaps) {
        for (; at < gap.begin; at += parts.back().samples)
            parts.push_back({fmt::format("record-{:05}.f32", parts.size()), at, std::min(file_length, gap.begin - at)});
        at = std::max(at, gap.end);
    }
    return parts;
}

/// Receiver after receiver, as many at a time as fit into 64 MiB, or pieces of one.
void write_part(const seismic::SyntheticRecord& record, const Part& part, const fs::path& folder) {
    constexpr std::int64_t kValues = 1 << 24;
    io::AtomicFile file((folder / part.name).string());
    const std::int64_t receivers = record.receivers.count();
    const std::int64_t piece = std::min(part.samples, kValues);
    const std::int64_t rows = piece == part.samples ? std::max<std::int64_t>(1, kValues / piece) : 1;
    std::vector<float> values(static_cast<std::size_t>(std::min(rows, receivers) * piece));
    for (std::int64_t r = 0; r < receivers; r += rows)
        for (std::int64_t k = 0; k < part.samples; k += piece) {
            const std::int64_t here = std::min(rows, receivers - r), count = std::min(piece, part.samples - k);
            record.traces(r, here, part.first + k, count, values.data());
            file.write(
                {reinterpret_cast<const char*>(values.data()), static_cast<std::size_t>(here * count) * sizeof(float)});
        }
    file.commit();
}

void write_index(const SynthesizeOptions& options, const seismic::Receivers& receivers,
                 const std::vector<Part>& parts) {
    nlohmann::ordered_json json{{"schema", "espalier.record/1"},
                                {"rate", options.record.rate},
                                {"receivers", receivers.count()},
                                {"receivers_file", "receivers.csv"},
                                {"files", nlohmann::ordered_json::array()}};
    for (const Part& part : parts)
        json["files"].push_back({{"name", part.name}, {"first_sample", part.first}, {"samples", part.samples}});
    io::AtomicFile file((fs::path(options.folder) / "record.json").string());
    file.write(json.dump(1) + "\n");
    file.commit();
}

void write_truth(const SynthesizeOptions& options, const std::vector<seismic::Event>& events) {
    io::AtomicFile file((fs::path(options.folder) / "truth.csv").string());
    file.write("x,y,z,time,sample\n");
    for (const auto& [at, time] : events)
        file.write(fmt::format("{},{},{},{},{}\n", at.x, at.y, at.z, time, std::llround(time * options.record.rate)));
    file.commit();
}

void check_number(double value, const char* option, bool zero_too = false) {
    if (std::isfinite(value) && (zero_too ? value >= 0 : value > 0)) return;
    throw Failure(ExitCode::usage, fmt::format("{} is {}; it must be a {} number", option, value,
                                               zero_too ? "finite, not negative" : "positive"));
}

void validate(SynthesizeOptions& options) {
    seismic::SyntheticRecord& record = options.record;
    check_number(record.rate, "--rate");
    check_number(record.velocity, "--velocity");
    check_number(record.noise, "--noise", true);
    check_number(options.snr, "--snr", true);
    if (options.aperture != kNotGiven) check_number(options.aperture, "--aperture");
    if (options.frequency != kNotGiven) {
        check_number(options.frequency, "--frequency");
        record.frequency = options.frequency;
    } else {
        record.frequency = std::min(record.frequency, record.rate / 4);
    }
    if (record.frequency >= record.rate / 2)
        throw Failure(ExitCode::usage,
                      fmt::format("--frequency {} Hz needs more than {} samples per second; raise --rate or lower it",
                                  record.frequency, 2 * record.frequency));
    if (options.receivers < 1 || options.receivers > 1 << 20)
        throw Failure(ExitCode::usage, "--receivers must be 1 to 1048576");
    if (options.event_count != kNoCount && (options.event_count < 0 || options.event_count > kMostEvents))
        throw Failure(ExitCode::usage, fmt::format("--events must be 0 to {}", kMostEvents));
}

/// Before anything of that size is made.
void check_size(const SynthesizeOptions& options, std::int64_t samples, std::int64_t file_length) {
    const double bytes = 4.0 * static_cast<double>(samples) * static_cast<double>(options.record.receivers.count());
    if (bytes > static_cast<double>(options.max_size))
        throw Failure(
            ExitCode::usage,
            fmt::format("{} samples of {} receivers are {:.4g} GB, more than the limit of {:.4g} GB; raise it "
                        "with --max-size, or shorten --duration",
                        samples, options.record.receivers.count(), bytes / 1e9,
                        static_cast<double>(options.max_size) / 1e9));
    if (samples / file_length >= kMostFiles)
        throw Failure(ExitCode::usage,
                      fmt::format("{} files of {} samples are more than the {} that an index lists; raise "
                                  "--file-length",
                                  samples / file_length, file_length, kMostFiles));
}

void create_folder(const std::string& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw io::BadFile(folder, "cannot be made a folder: " + error.message());
}

void refuse_to_destroy_inputs(const SynthesizeOptions& options, const std::vector<Part>& parts) {
    std::vector<NamedFile> outputs;
    for (const char* name : {"receivers.csv", "truth.csv", "record.json"})
        outputs.push_back({"", (fs::path(options.folder) / name).string()});
    for (const Part& part : parts) outputs.push_back({"", (fs::path(options.folder) / part.name).string()});
    refuse_same_files(outputs, {{"--receivers-file", options.receivers_path}});
}

void run_synthesize(SynthesizeOptions& options) {
    validate(options);
    seismic::SyntheticRecord& record = options.record;
    const seismic::Grid grid = grid_of(options.grid);
    const std::int64_t samples = parse_samples(options.duration, record.rate, "--duration");
    const double seconds = static_cast<double>(samples) / record.rate;
    const std::int64_t file_length = parse_samples(options.file_length, record.rate, "--file-length");
    record.receivers = receivers_of(options, grid);
    check_size(options, samples, file_length);
    record.events = events_of(options, grid, seconds);
    record.amplitude = record.noise > 0 ? std::sqrt(options.snr) * record.noise : 1;
    const auto parts = parts_of(samples, file_length, gaps_of(options, samples));

    refuse_to_destroy_inputs(options, parts);
    create_folder(options.folder);
    const double start = steady_seconds();
    {
        RunProgress progress(options.quiet);
        std::int64_t written = 0;
        for (std::size_t i = 0; i < parts.size(); ++i) {
            progress.show(fmt::format("file {} of {}", i + 1, parts.size()),
                          static_cast<double>(written) / static_cast<double>(samples));
            write_part(record, parts[i], options.folder);
            written += parts[i].samples;
        }
    }
    seismic::write_receivers((fs::path(options.folder) / "receivers.csv").string(), record.receivers);
    write_truth(options, record.events);
    write_index(options, record.receivers, parts);  // last: with it the record is complete

    double bytes = 0;
    for (const Part& part : parts) bytes += 4.0 * static_cast<double>(part.samples * record.receivers.count());
    if (options.json) {
        const nlohmann::ordered_json json{{"record", (fs::path(options.folder) / "record.json").string()},
                                          {"receivers", record.receivers.count()},
                                          {"samples", samples},
                                          {"rate", record.rate},
                                          {"files", parts.size()},
                                          {"bytes", bytes},
                                          {"events", record.events.size()},
                                          {"amplitude", record.amplitude},
                                          {"seconds", steady_seconds() - start}};
        print_json(json);
    } else if (!options.quiet) {
        to_stdout("{}: {}, {:.3f} s at {} Hz, {} of {:.3f} noise deviations, {}, {:.1f} MB\n",
                  printable((fs::path(options.folder) / "record.json").string()),
                  counted(record.receivers.count(), "receiver"), seconds, record.rate,
                  counted(record.events.size(), "event"), record.amplitude, counted(parts.size(), "file"), bytes / 1e6);
    }
}

}  // namespace

void add_synthesize(CLI::App& program, ExitCode&) {
    const auto options = std::make_shared<SynthesizeOptions>();
    CLI::App& command = *program.add_subcommand("synthesize", "Writes a seismic record of noise and known events");
    command.add_option("folder", options->folder, "where to: record.json, receivers.csv, truth.csv, record-*.f32")
        ->required();
    add_number(command, "--receivers", options->receivers, "how many")->capture_default_str();
    command.add_option("--receivers-file", options->receivers_path, "CSV of x,y,z to take instead of random places");
    add_number(command, "--aperture", options->aperture,
               "side of the square of receivers in metres (default: twice the grid's, at least 1000)");
    add_number(command, "--rate", options->record.rate, "samples per second")->capture_default_str();
    command.add_option("--duration", options->duration, "of the record: 60s, 1h, or samples")->capture_default_str();
    command.add_option("--file-length", options->file_length, "of each file: 10s, or samples")->capture_default_str();
    add_size(command, "--max-size", options->max_size, "refuse to write more (default: 100GB)");
    add_grid_options(command, options->grid);
    add_number(command, "--velocity", options->record.velocity, "metres per second")->capture_default_str();
    add_number(command, "--events", options->event_count, "at random nodes and times (default: 1 without --event)");
    command.add_option("--event", options->events, "an event of your own: x,y,z,time; may be repeated")
        ->allow_extra_args(false);
    add_number(command, "--snr", options->snr, "power of an event's peak over that of the noise, at every receiver")
        ->capture_default_str();
    add_number(command, "--frequency", options->frequency,
               "of the events' Ricker wavelet, in hertz (default: 80, at most a quarter of --rate)");
    add_number(command, "--noise", options->record.noise, "its standard deviation; 0 for none")->capture_default_str();
    command.add_option("--gap", options->gaps, "leave out start,duration (seconds); may be repeated")
        ->allow_extra_args(false);
    add_number(command, "--seed", options->record.seed, "the same seed gives the same record")->capture_default_str();
    command.add_flag("--json", options->json, "print what was written as JSON");
    command.add_flag("--quiet", options->quiet, "say nothing but errors");
    command.callback([options] { run_synthesize(*options); });
}

}  // namespace espalier::bench::cli
