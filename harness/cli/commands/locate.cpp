// espalier locate: finds where and when a continuous record was emitted, by coherent summation.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/apps/io/file.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/device_option.hpp"
#include "harness/cli/locate_session.hpp"
#include "harness/cli/parse.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/seismic_options.hpp"
#include "harness/cli/standard_output.hpp"
#include "harness/files/replaced_file.hpp"
#include "harness/files/same_file.hpp"
#include "harness/sweep/progress.hpp"
#include "harness/text/counted.hpp"
#include "harness/text/printable.hpp"
#include "harness/text/to_stderr.hpp"

namespace espalier::bench::cli {
namespace {

struct LocateOptions {
    std::vector<std::string> files;
    std::string receivers_path;
    seismic::RecordOptions record;
    GridOptions grid;
    LocateSettings settings;
    std::string interpolation = "nearest", precision = "single", window = "12000", max_gap = "24h", device = "auto",
                output, cube;
    bool no_double_buffering = false, pageable = false, explain = false, json = false, quiet = false;
};

void validate(const LocateOptions& options) {
    const bool velocity = options.settings.velocity != 0;
    if (velocity == !options.settings.travel_times.empty())
        throw Failure(ExitCode::usage, "give either --velocity or --travel-times");
    if (velocity && !(options.settings.velocity > 0 && std::isfinite(options.settings.velocity)))
        throw Failure(ExitCode::usage, "--velocity is metres per second, a positive number");
    const auto to_stdout = std::ranges::count(std::array{options.output, options.cube}, kStandardStream);
    if (to_stdout + static_cast<int>(options.json) > 1)
        throw Failure(ExitCode::usage, "only one of -o, --cube and --json can go to the standard output");
    if (options.record.rate < 0 || !std::isfinite(options.record.rate))
        throw Failure(ExitCode::usage, "--rate is samples per second, a positive number");
}

/// An index names its receivers' file itself; for other files the option must.
seismic::Receivers receivers_for(LocateOptions& options, std::unique_ptr<seismic::Record>& record) {
    if (!options.receivers_path.empty()) {
        auto receivers = seismic::read_receivers(options.receivers_path);
        options.record.receivers = receivers.count();
        options.record.names = receivers.names;
        record = seismic::open_record(options.files, options.record);
        return receivers;
    }
    if (!options.files.front().ends_with(".json"))
        throw Failure(ExitCode::usage, "give the receivers' coordinates: --receivers-file, a CSV of name,x,y,z");
    record = seismic::open_record(options.files, options.record);
    return seismic::read_receivers(record->receivers_path());
}

void refuse_to_destroy_inputs(const LocateOptions& options, const seismic::Record& record) {
    std::vector<NamedFile> inputs{{"--receivers-file", options.receivers_path},
                                  {"", record.receivers_path()},
                                  {"--travel-times", options.settings.travel_times}};
    for (const auto* files : {&options.files, &record.listed_files()})
        for (const std::string& file : *files) inputs.push_back({"", file});
    refuse_same_files({{"-o", options.output}, {"--cube", options.cube}}, inputs);
}

/// The windows' maxima, a line each.
class WindowTable {
public:
    WindowTable(const std::string& path, const seismic::Grid& grid, double rate)
        : file_(path), grid_(grid), rate_(rate) {
        file_.write("window,first_sample,samples,x,y,z,sample,time,coherence\n");
    }

    void add(const seismic::Window& window, const Location& best) {
        const seismic::Point at = seismic::position(grid_, best.node);
        file_.write(fmt::format("{},{},{},{},{},{},{},{:.6f},{}\n", window.number, window.first, window.samples, at.x,
                                at.y, at.z, best.sample, static_cast<double>(best.sample) / rate_, best.coherence));
    }

    void finish() { file_.commit(); }

private:
    io::AtomicFile file_;
    const seismic::Grid& grid_;
    double rate_;
};

void write_cube(const std::string& path, const CoherenceCube& cube, const seismic::Grid& grid, double rate) {
    io::AtomicFile file(path);
    if (!path.ends_with(".csv")) {
        file.write({reinterpret_cast<const char*>(cube.maximum.data()), cube.maximum.size() * sizeof(float)});
    } else {
        file.write("x,y,z,coherence,sample,time\n");
        for (std::size_t node = 0; node < cube.maximum.size(); ++node) {
            const seismic::Point at = seismic::position(grid, static_cast<std::int64_t>(node));
            file.write(fmt::format("{},{},{},{},{},{:.6f}\n", at.x, at.y, at.z, cube.maximum[node], cube.sample[node],
                                   static_cast<double>(cube.sample[node]) / rate));
        }
    }
    file.commit();
}

void tell_gaps(const seismic::Record& record) {
    constexpr std::size_t kShown = 10;
    const auto& gaps = record.gaps();
    for (std::size_t i = 0; i < std::min(gaps.size(), kShown); ++i) {
        const std::string who = gaps[i].receiver < 0 ? "" : fmt::format(" at receiver {}", gaps[i].receiver);
        to_stderr("gap{}: {:.3f} s from {:.3f} s on ({}), filled with zeros\n", who,
                  static_cast<double>(gaps[i].samples) / record.rate(),
                  static_cast<double>(gaps[i].first) / record.rate(), counted(gaps[i].samples, "sample"));
    }
    if (gaps.size() > kShown) to_stderr("and {}\n", counted(gaps.size() - kShown, "more gap"));
}

/// What is known before the first window is read.
void tell_plan(const seismic::Record& record, const LocateSession& session, const LocateSettings& settings,
               const Device& device) {
    tell_gaps(record);
    to_stderr("{}, {:.3f} s at {} Hz ({}{}), {}, delays up to {} ({})\n", counted(record.receivers(), "receiver"),
              static_cast<double>(record.samples()) / record.rate(), record.rate(), record.format(),
              record.start().empty() ? "" : ", from " + record.start(), counted(settings.grid.nodes(), "trial source"),
              counted(session.span(), "sample"), printable(session.delays_from()));
    to_stderr("{} of {} by {} on {}\n", counted(session.windows(), "window"), counted(session.window(), "sample"),
              session.pipeline().ran(), device.key());
    if (session.span() > session.window())
        to_stderr(
            "the longest delay exceeds the window: each window is copied with {:.1f} times its own samples; "
            "--window {} would halve that\n",
            static_cast<double>(session.span()) / static_cast<double>(session.window()), 2 * session.window());
}

nlohmann::ordered_json as_json(const seismic::Record& record, const LocateSession& session,
                               const LocateSettings& settings, const Device& device) {
    const Location best = session.cube().best();
    const seismic::Point at = seismic::position(settings.grid, best.node);
    const LocateTimes& times = session.times();
    const double seconds = static_cast<double>(record.samples()) / record.rate();
    nlohmann::ordered_json gaps = nlohmann::ordered_json::array();
    for (const seismic::Gap& gap : record.gaps()) {
        gaps.push_back({{"first_sample", gap.first}, {"samples", gap.samples}});
        if (gap.receiver >= 0) gaps.back()["receiver"] = gap.receiver;
    }
    return {{"x", at.x},
            {"y", at.y},
            {"z", at.z},
            {"node", best.node},
            {"sample", best.sample},
            {"time", static_cast<double>(best.sample) / record.rate()},
            {"coherence", best.coherence},
            {"format", record.format()},
            {"start", record.start()},
            {"receivers", record.receivers()},
            {"rate", record.rate()},
            {"samples", record.samples()},
            {"record_seconds", seconds},
            {"gaps", gaps},
            {"sources", settings.grid.nodes()},
            {"longest_delay", session.span()},
            {"delays_from", session.delays_from()},
            {"interpolation", settings.phases > 1 ? "linear" : "nearest"},
            {"precision", settings.precision == SumPrecision::half ? "half" : "single"},
            {"window", session.window()},
            {"windows", session.windows()},
            {"device", device.key()},
            {"ran", session.pipeline().ran()},
            {"double_buffering", settings.double_buffering},
            {"pinned", settings.pinned && device.is_cuda()},
            {"seconds", times.wall},
            {"read_seconds", times.read},
            {"copy_seconds", times.copy},
            {"sum_seconds", times.sum},
            {"copied_bytes", session.pipeline().copied_bytes()},
            {"copy_gb_per_s", times.copy > 0 ? session.pipeline().copied_bytes() / times.copy * 1e-9 : 0},
            {"overlap", times.overlap()},
            {"real_time_factor", seconds / times.wall}};
}

std::string result_in_words(const seismic::Record& record, const LocateSession& session,
                            const LocateSettings& settings) {
    const Location best = session.cube().best();
    const seismic::Point at = seismic::position(settings.grid, best.node);
    const LocateTimes& times = session.times();
    const double seconds = static_cast<double>(record.samples()) / record.rate();
    return fmt::format(
        "maximum {:.6g} at x={} y={} z={}, time {:.6f} s (sample {})\n"
        "real-time factor {:.2f}: {:.3f} s of record in {:.3f} s (reading {:.3f}, copying {:.3f}, summing {:.3f}); "
        "{:.0f}% of reading and copying hidden\n",
        best.coherence, at.x, at.y, at.z, static_cast<double>(best.sample) / record.rate(), best.sample,
        seconds / times.wall, seconds, times.wall, times.read, times.copy, times.sum, 100 * times.overlap());
}

void run_locate(LocateOptions& options) {
    validate(options);
    const Device device = device_of(options.device);
    LocateSettings& settings = options.settings;
    settings.grid = grid_of(options.grid);
    settings.double_buffering = !options.no_double_buffering;
    settings.pinned = !options.pageable;
    // Delays to an eighth of a sample are off by up to a sixteenth: less than interpolating itself costs.
    settings.phases = options.interpolation == "linear" ? 8 : 1;
    settings.precision = options.precision == "half" ? SumPrecision::half : SumPrecision::single;
    options.record.longest_gap = parse_duration(options.max_gap, "--max-gap");
    std::unique_ptr<seismic::Record> record;
    const seismic::Receivers receivers = receivers_for(options, record);
    refuse_to_destroy_inputs(options, *record);
    settings.window = parse_samples(options.window, record->rate(), "--window");

    LocateSession session(device, *record, receivers, settings);
    if (options.explain) to_stderr("{}\n", session.pipeline().explanation());
    if (!options.quiet) tell_plan(*record, session, settings, device);
    std::optional<WindowTable> table;
    if (!options.output.empty()) table.emplace(options.output, settings.grid, record->rate());
    {
        // Windows go to the standard output as they are done; a cube goes there when all are.
        RunProgress progress(options.quiet || (options.output == kStandardStream && stdout_is_terminal()));
        session.run([&](const seismic::Window& window, const Location& best) {
            if (table) table->add(window, best);
            const double done = static_cast<double>(window.first + window.samples);
            progress.show(fmt::format("window {} of {}, {:.0f} s of record", window.number + 1, session.windows(),
                                      done / record->rate()),
                          done / static_cast<double>(record->samples()));
        });
    }
    if (table) table->finish();
    if (!options.cube.empty()) write_cube(options.cube, session.cube(), settings.grid, record->rate());
    if (options.json)
        print_json(as_json(*record, session, settings, device));
    else
        print_in_words(result_in_words(*record, session, settings),
                       options.output == kStandardStream || options.cube == kStandardStream);
}

void add_record_options(Command& command, LocateOptions& options) {
    command.add_option("record", options.files, "an index (record.json), or the record's files in order of time")
        .required();
    command.add_option("--receivers-file", options.receivers_path,
                       "CSV of name,x,y,z (and weight), one per trace; an index names its own");
    command.add_option("--format", options.record.format, "of the files, if their names do not tell")
        .one_of({"auto", "raw", "segy", "miniseed"})
        .capture_default_str();
    command.add_option("--rate", options.record.rate, "samples per second, of raw files without an index");
    command.add_flag("--fill-missing", options.record.fill_missing,
                     "files of an index that are missing or short become zeros");
    command.add_option("--max-gap", options.max_gap, "refuse a record with a longer gap, as damaged clocks make them")
        .capture_default_str();
}

}  // namespace

void add_locate(Command& app, ExitCode&) {
    const auto options = std::make_shared<LocateOptions>();
    Command command =
        app.add_subcommand("locate", "Finds the source of a seismic record by coherent summation over a grid");
    add_record_options(command, *options);
    add_grid_options(command, options->grid);
    command.add_option("--velocity", options->settings.velocity, "of a homogeneous medium, metres per second");
    command.add_option("--travel-times", options->settings.travel_times,
                       "instead: file of nodes x receivers seconds, 32-bit floats");
    command
        .add_option("--interpolation", options->interpolation, "between samples: nearest, or linear in eighths of one")
        .one_of({"nearest", "linear"})
        .capture_default_str();
    command
        .add_option("--precision", options->precision,
                    "of sums: single, or half, which may be off by (receivers + 3) / 8000 of a window's largest sample")
        .one_of({"single", "half"})
        .capture_default_str();
    command.add_option("--window", options->window, "samples summed at a time, or a time: 30s").capture_default_str();
    command.add_option("--device", options->device, kDeviceHelp).capture_default_str();
    command.add_option("--variant", options->settings.variant, "force a variant instead of the selector's choice");
    command.add_flag("--no-double-buffering", options->no_double_buffering,
                     "read, copy and sum one after the other, to see what overlapping them is worth");
    command.add_flag("--pageable", options->pageable, "do not page-lock host memory, to see what that is worth");
    command.add_option("-o,--output", options->output, "CSV file of every window's maximum; - is the standard output");
    command.add_option("--cube", options->cube, "file of every node's maximum: .csv, else 32-bit floats");
    command.add_flag("--explain", options->explain, "say why this variant was chosen");
    command.add_flag("--json", options->json, "print what was found and done as JSON");
    command.add_flag("--quiet", options->quiet, "say nothing but the result and errors");
    command.callback([options] { run_locate(*options); });
}

}  // namespace espalier::bench::cli
