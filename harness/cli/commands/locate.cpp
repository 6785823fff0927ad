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
#include "harness/apps/seismic/conditioned_record.hpp"
#include "harness/apps/sessions/locate_session.hpp"
#include "harness/base/files/replaced_file.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/progress.hpp"
#include "harness/base/range.hpp"
#include "harness/base/stop.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/device_option.hpp"
#include "harness/cli/locate_report.hpp"
#include "harness/cli/parse.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/seismic_options.hpp"
#include "harness/cli/standard_output.hpp"
#include "harness/cli/warnings.hpp"

namespace espalier::bench::cli {
namespace {

struct LocateOptions {
    std::vector<std::string> files;
    std::string receivers_path;
    seismic::RecordOptions record;
    GridOptions grid;
    apps::LocateSettings settings;
    seismic::Conditioning conditioning;
    std::string interpolation = "nearest", precision = "single", window = "12000", max_gap = "24h", device = "auto",
                overlap = "refuse", bandpass, output, cube, follow_for, follow_idle, follow_late;
    bool no_double_buffering = false, pageable = false, explain = false, json = false, quiet = false, follow = false;
};

void validate_following(const LocateOptions& options) {
    for (const auto& [option, value] : {std::pair{"--follow-for", options.follow_for},
                                        {"--follow-idle", options.follow_idle},
                                        {"--follow-late", options.follow_late}})
        if (!value.empty() && !options.follow)
            throw Failure(ExitCode::usage, fmt::format("{} says how to follow a record; give --follow, too", option));
    if (!options.follow) return;
    if (!options.settings.save_sums.empty())
        throw Failure(ExitCode::usage,
                      "--save-sums needs the record's length, and --follow does not know it; save the "
                      "sums of the record when it is complete");
    if (options.conditioning.demean || options.conditioning.detrend || !options.bandpass.empty())
        throw Failure(ExitCode::usage,
                      "--demean, --detrend and --bandpass read the whole record first, and --follow "
                      "has no whole one; leave them out, or locate the record when it is complete");
}

void validate(const LocateOptions& options) {
    const bool velocity = options.settings.velocity != 0;
    if (velocity == !options.settings.travel_times.empty())
        throw Failure(ExitCode::usage, "give either --velocity or --travel-times");
    if (velocity && !(options.settings.velocity > 0 && std::isfinite(options.settings.velocity)))
        throw Failure(ExitCode::usage, "--velocity is metres per second, a positive number");
    const auto to_stdout = std::ranges::count(std::array{options.output, options.cube}, kStandardStream);
    if (to_stdout + static_cast<int>(options.json) > 1)
        throw Failure(ExitCode::usage, "only one of -o, --cube and --json can go to the standard output");
    if (options.settings.save_sums == kStandardStream)
        throw Failure(ExitCode::usage,
                      "--save-sums cannot go to the standard output: it is written in many places. Name a file");
    validate_following(options);
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
    refuse_same_files({{"-o", options.output}, {"--cube", options.cube}, {"--save-sums", options.settings.save_sums}},
                      inputs);
}

/// A last cell of a CSV line, where the record knows its time.
std::string utc_cell(const seismic::Record& record, std::int64_t sample) {
    return record.start_time() ? "," + utc_of(record, sample) : "";
}

/// The windows' maxima, a line each; `live`: seen by others as soon as it is known.
class WindowTable {
public:
    WindowTable(const std::string& path, const seismic::Grid& grid, const seismic::Record& record, bool live)
        : file_(path), grid_(grid), record_(record), live_(live) {
        file_.write("window,first_sample,samples,x,y,z,sample,time,coherence");
        file_.write(record.start_time() ? ",utc\n" : "\n");
        if (live_) file_.publish();
    }

    void add(const seismic::Window& window, const apps::Location& best) {
        const seismic::Point at = seismic::position(grid_, best.node);
        file_.write(fmt::format("{},{},{},{},{},{},{},{:.6f},{}{}\n", window.number, window.first, window.samples, at.x,
                                at.y, at.z, best.sample, static_cast<double>(best.sample) / record_.rate(),
                                best.coherence, utc_cell(record_, best.sample)));
        if (live_) file_.publish();
    }

    void finish() { file_.commit(); }

private:
    io::AtomicFile file_;
    const seismic::Grid& grid_;
    const seismic::Record& record_;
    const bool live_;
};

void write_cube(const std::string& path, const apps::CoherenceCube& cube, const seismic::Grid& grid,
                const seismic::Record& record) {
    io::AtomicFile file(path);
    if (!path.ends_with(".csv")) {
        file.write({reinterpret_cast<const char*>(cube.maximum.data()), cube.maximum.size() * sizeof(float)});
    } else {
        file.write("x,y,z,coherence,sample,time");
        file.write(record.start_time() ? ",utc\n" : "\n");
        for (std::size_t node = 0; node < cube.maximum.size(); ++node) {
            const seismic::Point at = seismic::position(grid, static_cast<std::int64_t>(node));
            file.write(fmt::format("{},{},{},{},{},{:.6f}{}\n", at.x, at.y, at.z, cube.maximum[node], cube.sample[node],
                                   static_cast<double>(cube.sample[node]) / record.rate(),
                                   utc_cell(record, cube.sample[node])));
        }
    }
    file.commit();
}

std::unique_ptr<seismic::Record> conditioned(std::unique_ptr<seismic::Record> record, LocateOptions& options) {
    if (!options.bandpass.empty()) {
        const auto corners = parse_numbers(options.bandpass, 2, "--bandpass");
        if (!(corners[0] > 0 && corners[0] < corners[1] && corners[1] < record->rate() / 2))
            throw Failure(ExitCode::usage,
                          fmt::format("--bandpass is LOW,HIGH in Hz, more than 0 and less than half of "
                                      "the rate, {}, not '{}'",
                                      record->rate() / 2, options.bandpass));
        options.conditioning.bandpass = {corners[0], corners[1]};
    }
    return seismic::conditioned(std::move(record), options.conditioning);
}

std::optional<seismic::Following> following_of(const LocateOptions& options, double rate) {
    if (!options.follow) return std::nullopt;
    seismic::Following following{.told = stop_requested};
    if (!options.follow_for.empty()) following.longest = parse_duration(options.follow_for, "--follow-for");
    if (!options.follow_idle.empty()) following.idle = parse_duration(options.follow_idle, "--follow-idle");
    if (!options.follow_late.empty()) following.late = parse_samples(options.follow_late, rate, "--follow-late");
    return following;
}

/// Sums the record and writes what is known of each window.
void locate(apps::LocateSession& session, const LocateOptions& options, const seismic::Record& record) {
    std::optional<WindowTable> table;
    if (!options.output.empty()) table.emplace(options.output, options.settings.grid, record, options.follow);
    const device::Range range("locate");
    // Windows go to the standard output as they are done; a cube goes there when all are.
    RunProgress progress(options.quiet || (options.output == kStandardStream && stdout_is_terminal()));
    session.run([&](const seismic::Window& window, const apps::Location& best) {
        if (table) table->add(window, best);
        const double done = static_cast<double>(window.first + window.samples);
        const std::string how_far = fmt::format("{:.0f} s of record", done / record.rate());
        if (options.follow)
            progress.show(fmt::format("window {}, {}", window.number + 1, how_far), 0);
        else
            progress.show(fmt::format("window {} of {}, {}", window.number + 1, session.windows(), how_far),
                          done / static_cast<double>(record.samples()));
    });
    if (table) table->finish();
}

void run_locate(LocateOptions& options, ExitCode& code) {
    validate(options);
    const Device device = device_of(options.device);
    apps::LocateSettings& settings = options.settings;
    settings.grid = grid_of(options.grid);
    settings.double_buffering = !options.no_double_buffering;
    settings.pinned = !options.pageable;
    // Delays to an eighth of a sample are off by up to a sixteenth: less than interpolating itself costs.
    settings.phases = options.interpolation == "linear" ? 8 : 1;
    settings.precision = options.precision == "half" ? SumPrecision::half : SumPrecision::single;
    options.record.overlap = options.overlap == "first"  ? seismic::Overlap::first
                             : options.overlap == "last" ? seismic::Overlap::last
                                                         : seismic::Overlap::refuse;
    options.record.longest_gap = parse_duration(options.max_gap, "--max-gap");
    options.record.growing = options.follow;
    std::unique_ptr<seismic::Record> record;
    const seismic::Receivers receivers =
        device::in_range("open record", [&] { return receivers_for(options, record); });
    refuse_to_destroy_inputs(options, *record);
    settings.window = parse_samples(options.window, record->rate(), "--window");
    settings.following = following_of(options, record->rate());
    std::optional<StopOnSignals> stopping;
    if (options.follow) stopping.emplace(StopOnSignals::During::writing);
    record = conditioned(std::move(record), options);

    std::optional<device::Range> planning("plan");
    apps::LocateSession session(device, *record, receivers, settings);
    planning.reset();
    if (options.explain) to_stderr("{}\n", session.pipeline().explanation());
    if (!options.quiet) {
        tell_channels(*record, receivers);
        tell_plan(*record, receivers, session, settings, device);
    }
    locate(session, options, *record);
    if (options.follow && !options.quiet) tell_follow_end(session);
    if (!options.cube.empty()) write_cube(options.cube, session.cube(), settings.grid, *record);
    const std::vector<std::string> warnings = warnings_of(*record, session);
    if (!options.json || !options.quiet) tell_warnings(warnings);
    if (options.json)
        print_json(as_json(*record, receivers, session, settings, device, warnings));
    else
        print_in_words(result_in_words(*record, session, settings),
                       options.output == kStandardStream || options.cube == kStandardStream);
    if (session.follow_end() == seismic::FollowEnd::told) code = static_cast<ExitCode>(128 + stop_signal());
}

void add_record_options(CLI::App& command, LocateOptions& options) {
    command.add_option("record", options.files, "an index (record.json), or the record's files in order of time")
        ->required();
    command.add_option("--receivers-file", options.receivers_path,
                       "CSV of name,x,y,z (and weight), one per trace; an index names its own");
    command.add_option("--format", options.record.format, "of the files, if their names do not tell")
        ->check(one_of({"auto", "raw", "segy", "miniseed"}))
        ->capture_default_str();
    add_number(command, "--rate", options.record.rate,
               "samples per second, of raw files without an index and of SEG-Y without an interval");
    command.add_flag("--fill-missing", options.record.fill_missing,
                     "files of an index that are missing or short, and receivers without a channel, become zeros");
    command.add_option("--max-gap", options.max_gap, "refuse a record with a longer gap, as damaged clocks make them")
        ->capture_default_str();
    command
        .add_option(
            "--overlap", options.overlap,
            "what counts where miniSEED records of a channel overlap and differ: the first to begin, or the last")
        ->check(one_of({"refuse", "first", "last"}))
        ->capture_default_str();
}

void add_following_options(CLI::App& command, LocateOptions& options) {
    command.add_flag("--follow", options.follow,
                     "go on while the record grows (miniSEED that is appended to, an index that gains files): every "
                     "window is located, and its line written, as soon as its samples are there. Ends at Ctrl-C, when "
                     "the rest is located");
    command.add_option("--follow-for", options.follow_for, "with --follow: end after this time, such as 2h");
    command.add_option("--follow-idle", options.follow_idle,
                       "with --follow: end when nothing has come for this long, such as 5m");
    command.add_option("--follow-late", options.follow_late,
                       "with --follow: do not wait for receivers that are further behind the first one than this time "
                       "of the record, such as 30s: zeros, and a warning if their samples come after all");
}

void add_conditioning_options(CLI::App& command, LocateOptions& options) {
    command.add_flag("--demean", options.conditioning.demean, "take each trace's mean off");
    command.add_flag("--detrend", options.conditioning.detrend,
                     "take each trace's straight line off, its mean with it");
    command.add_option("--bandpass", options.bandpass,
                       "LOW,HIGH in Hz: Butterworth of four corners, forward and backward; takes the mean off, too");
    command.add_flag("--absolute", options.conditioning.absolute,
                     "sum absolute values, for sources that not all receivers see with one sign");
}

}  // namespace

void add_locate(CLI::App& program, ExitCode& code) {
    const auto options = std::make_shared<LocateOptions>();
    CLI::App& command =
        *program.add_subcommand("locate", "Finds the source of a seismic record by coherent summation over a grid");
    add_record_options(command, *options);
    add_following_options(command, *options);
    add_conditioning_options(command, *options);
    add_grid_options(command, options->grid);
    add_number(command, "--velocity", options->settings.velocity, "of a homogeneous medium, metres per second");
    command.add_option("--travel-times", options->settings.travel_times,
                       "instead: file of nodes x receivers seconds, 32-bit floats");
    command
        .add_option("--interpolation", options->interpolation, "between samples: nearest, or linear in eighths of one")
        ->check(one_of({"nearest", "linear"}))
        ->capture_default_str();
    command
        .add_option("--precision", options->precision,
                    "of sums: single, or half, which may be off by (receivers + 3) / 8000 of a window's largest sample")
        ->check(one_of({"single", "half"}))
        ->capture_default_str();
    command.add_option("--window", options->window, "samples summed at a time, or a time: 30s")->capture_default_str();
    command.add_option("--device", options->device, kDeviceHelp)->capture_default_str();
    command.add_option("--variant", options->settings.variant, "force a variant instead of the selector's choice");
    command.add_flag("--no-double-buffering", options->no_double_buffering,
                     "read, copy and sum one after the other, to see what overlapping them is worth");
    command.add_flag("--pageable", options->pageable, "do not page-lock host memory, to see what that is worth");
    command.add_option("-o,--output", options->output, "CSV file of every window's maximum; - is the standard output");
    command.add_option("--cube", options->cube, "file of every node's maximum: .csv, else 32-bit floats");
    command.add_option("--save-sums", options->settings.save_sums,
                       "file of all sums: a NumPy array (.npy) of nodes x samples, 4 bytes each, written while other "
                       "windows are summed; it must fit on the disk");
    command.add_flag("--explain", options->explain, "say why this variant was chosen");
    command.add_flag("--json", options->json, "print what was found and done as JSON");
    command.add_flag("--quiet", options->quiet,
                     "say nothing but the result, warnings and errors; with --json the warnings are in it");
    command.callback([options, &code] { run_locate(*options, code); });
}

}  // namespace espalier::bench::cli
