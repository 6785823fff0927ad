// espalier histogram: how often each byte occurs in a file of any size, or each value of an image's pixels, by the
// variant that the selector chooses.

#include "espalier/histogram.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/apps/images/image.hpp"
#include "harness/apps/io/byte_file.hpp"
#include "harness/apps/sessions/byte_report.hpp"
#include "harness/apps/sessions/pixel_counts.hpp"
#include "harness/base/clock.hpp"
#include "harness/base/files/replaced_file.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/progress.hpp"
#include "harness/base/range.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/device_option.hpp"
#include "harness/cli/print_json.hpp"

namespace espalier::bench::cli {
namespace {

struct HistogramOptions {
    std::string input;
    std::string format = "table";
    std::string device = "auto";
    std::string variant;
    std::uint64_t memory = std::uint64_t{128} << 20;
    std::string mask;
    std::uint64_t max_image = io::kMaxImageBytes;
    bool json = false, explain = false, quiet = false, pixels = false;
};

struct Outcome {
    apps::ByteCounts counts;
    double seconds = 0;  ///< reading included
    double counting_seconds = 0;
};

void show(RunProgress& progress, std::uint64_t done, const io::ByteFile& file) {
    const auto share = file.size() ? static_cast<double>(done) / static_cast<double>(*file.size()) : 0;
    const std::string all = file.size() ? fmt::format(" of {}", *file.size() >> 20) : "";
    progress.show(fmt::format("{}{} MiB", done >> 20, all), share);
}

using Chunk = std::vector<std::uint8_t>;

/// Counts chunk after chunk; the next one is read while this one is counted.
Outcome count(const Device& device, const HistogramOptions& options, io::ByteFile& file, Chunk (&chunks)[2]) {
    const double start = steady_seconds();
    const auto read_ahead = [&](Chunk& chunk) {
        return std::async(std::launch::async, [&file, &chunk] {
            const device::Range range("read bytes");
            return file.read(chunk);
        });
    };
    RunProgress progress(options.quiet);
    Outcome outcome;
    auto next = read_ahead(chunks[0]);
    for (int turn = 0;; turn ^= 1) {
        const std::size_t size = next.get();
        const Chunk& chunk = chunks[turn];
        const bool last = size < chunk.size();
        if (!last) next = read_ahead(chunks[turn ^ 1]);
        Histogram256 counts{};
        const device::Range range("count bytes");
        const double before = steady_seconds();
        succeed_or_fail(count_bytes(device, chunk.data(), static_cast<std::int64_t>(size), counts.data(),
                                    {.variant = options.variant}));
        outcome.counting_seconds += steady_seconds() - before;
        for (std::size_t value = 0; value < counts.size(); ++value) outcome.counts.counts[value] += counts[value];
        outcome.counts.bytes += size;
        outcome.seconds = steady_seconds() - start;
        if (last) return outcome;
        show(progress, outcome.counts.bytes, file);
    }
}

int bar_columns() {
    winsize size{};
    const int columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
    return std::max(10, columns - 34);
}

nlohmann::ordered_json as_json(const HistogramOptions& options, const Device& device, const Explanation& explanation,
                               const Outcome& outcome) {
    return {{"file", options.input},
            {"bytes", outcome.counts.bytes},
            {"distinct", outcome.counts.distinct()},
            {"entropy_bits", outcome.counts.entropy()},
            {"device", device.key()},
            {"variant", explanation.variant},
            {"configuration", explanation.configuration},
            {"seconds", outcome.seconds},
            {"counting_seconds", outcome.counting_seconds},
            {"counts", outcome.counts.counts}};
}

void print(const HistogramOptions& options, const Device& device, const Explanation& explanation,
           const Outcome& outcome) {
    if (options.json || options.format == "json")
        print_json(as_json(options, device, explanation, outcome));
    else if (options.format == "csv")
        fmt::print("{}", csv_of(outcome.counts));
    else
        fmt::print("{}", table_of(outcome.counts, options.format == "bars" ? bar_columns() : 0));
}

nlohmann::ordered_json as_json(const HistogramOptions& options, const Device& device, const io::Image& image,
                               const apps::PixelCounts& counts) {
    auto channels = nlohmann::ordered_json::array();
    for (const apps::ChannelCounts& channel : counts.channels)
        channels.push_back({{"channel", channel.channel},
                            {"distinct", channel.counts.distinct()},
                            {"entropy_bits", channel.counts.entropy()},
                            {"counts", channel.counts.counts}});
    return {{"file", options.input},
            {"width", image.width},
            {"height", image.height},
            {"pixels", counts.pixels},
            {"device", device.key()},
            {"variant", counts.explanation.variant},
            {"configuration", counts.explanation.configuration},
            {"counting_seconds", counts.counting_seconds},
            {"notes", image.metadata.notes},
            {"channels", channels}};
}

void run_pixels(const HistogramOptions& options) {
    refuse_same_files({}, {{"", options.input}, {"--mask", options.mask}});
    const Device device = device_of(options.device);
    const io::Image image =
        device::in_range("read image", [&] { return io::read_image(options.input, options.max_image); });
    std::optional<io::Image> mask;
    if (!options.mask.empty()) mask = io::read_image(options.mask, options.max_image);
    const apps::PixelCounts counts = device::in_range("count pixels", [&] {
        return apps::count_pixels(device, image, mask ? &*mask : nullptr, options.mask, options.variant);
    });
    if (options.explain) to_stderr("{}\n", counts.explanation.text());
    if (options.json || options.format == "json")
        print_json(as_json(options, device, image, counts));
    else if (options.format == "csv")
        fmt::print("{}", csv_of(counts));
    else
        fmt::print("{}", table_of(counts, options.format == "bars" ? bar_columns() : 0));
    if (options.quiet) return;
    to_stderr("{}: {} of {} x {}, counted in {:.3f} s by histogram/{} ({}) on {}{}\n", printable(options.input),
              counted(counts.pixels, "pixel"), image.width, image.height, counts.counting_seconds,
              counts.explanation.variant, counts.explanation.configuration, device.key(),
              device.is_cuda() ? ", transfers included" : "");
    for (const std::string& note : image.metadata.notes) to_stderr("{}: {}\n", printable(options.input), note);
}

void run_histogram(const HistogramOptions& options) {
    if (!options.mask.empty() && !options.pixels)
        throw Failure(ExitCode::usage, "--mask chooses pixels: say --pixels, too");
    if (options.input == kStandardStream && options.mask == kStandardStream)
        throw Failure(ExitCode::usage, "the image and --mask cannot both be the standard input: name a file");
    if (options.pixels) return run_pixels(options);
    constexpr std::uint64_t kLeast = 1024, kMost = std::uint64_t{1} << 40;
    if (options.memory < 2 * kLeast || options.memory > kMost)
        throw Failure(ExitCode::usage, "--memory is 2KiB to 1TiB: two chunks of the file are held at a time");
    refuse_same_files({}, {{"", options.input}});
    const Device device = device_of(options.device);
    io::ByteFile file(options.input);
    std::uint64_t chunk_bytes = options.memory / 2;
    if (file.size()) chunk_bytes = std::min(chunk_bytes, *file.size() + 1);  // one more: a short chunk is the last
    Chunk chunks[2];
    try {
        for (Chunk& chunk : chunks) chunk.resize(chunk_bytes);
    } catch (const std::bad_alloc&) {
        throw Failure(ExitCode::bad_data,
                      fmt::format("no memory for two chunks of {} bytes; lower --memory", chunk_bytes));
    }
    const auto size = static_cast<std::int64_t>(std::min(chunk_bytes, file.size().value_or(chunk_bytes)));
    const Explanation explanation = value_or_fail(explain_count_bytes(device, size, {.variant = options.variant}));
    if (options.explain) to_stderr("{}\n", explanation.text());
    const Outcome outcome = count(device, options, file, chunks);
    print(options, device, explanation, outcome);
    if (options.quiet) return;
    to_stderr("{}: {} in {:.3f} s, {:.3f} s of it counting by histogram/{} ({}) on {}{}\n", printable(options.input),
              counted(outcome.counts.bytes, "byte"), outcome.seconds, outcome.counting_seconds, explanation.variant,
              explanation.configuration, device.key(), device.is_cuda() ? ", transfers included" : "");
}

}  // namespace

void add_histogram(CLI::App& program, ExitCode&) {
    const auto options = std::make_shared<HistogramOptions>();
    CLI::App& command = *program.add_subcommand(
        "histogram", "Counts how often each byte of a file, or each value of an image's pixels, occurs");
    command.add_option("file", options->input, "any file; - is the standard input")->required();
    command.add_option("--format", options->format, "table, bars (a chart in the terminal), csv or json")
        ->check(one_of({"table", "bars", "csv", "json"}))
        ->capture_default_str();
    command.add_option("--device", options->device, kDeviceHelp)->capture_default_str();
    command.add_option("--variant", options->variant, "force a variant instead of the selector's choice");
    add_size(command, "--memory", options->memory, "for the two chunks of the file that are held: 128MiB, 1GiB");
    command.add_flag("--pixels", options->pixels,
                     "count the pixels of an image, by channel, not the bytes of its file: JPEG, PNG, TIFF, PGM, PPM");
    command.add_option("--mask", options->mask, "with --pixels: an image as large, black where pixels do not count");
    add_size(command, "--max-image", options->max_image, "with --pixels: refuse images of more bytes (default: 1GiB)");
    command.add_flag("--explain", options->explain, "say why this variant was chosen");
    command.add_flag("--json", options->json, "the same as --format json");
    command.add_flag("--quiet", options->quiet, "say nothing but errors and the counts");
    command.callback([options] { run_histogram(*options); });
}

}  // namespace espalier::bench::cli
