// espalier convolve: a square filter over a photograph, 5x5 by the variant that the selector chooses.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "espalier/convolution_2d.hpp"
#include "harness/apps/images/filter.hpp"
#include "harness/apps/images/image.hpp"
#include "harness/apps/sessions/image_filter.hpp"
#include "harness/base/files/replaced_file.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/range.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/device_option.hpp"
#include "harness/cli/print_json.hpp"

namespace espalier::bench::cli {
namespace {

struct ConvolveOptions {
    std::string input, output;
    std::string kernel = "laplace";
    std::string device = "auto";
    std::string variant;
    std::string border = "mirror";
    std::string alpha = "weighted";
    int offset = 0;
    int depth = 8;
    int quality = 0;  ///< 0: not given
    std::string subsampling;
    std::uint64_t max_image = io::kMaxImageBytes;
    bool explain = false;
    bool quiet = false;
    bool json = false;
};

/// The text file that --kernel names; empty if it is a filter's own name.
std::string filter_file(const std::string& kernel) {
    return std::ranges::count(io::filter_names(), kernel) ? "" : kernel;
}

Border border_of(const std::string& name) {
    return name == "zero" ? Border::zero : name == "replicate" ? Border::replicate : Border::mirror;
}

void tell(const ConvolveOptions& options, const io::Image& image, const io::Losses& losses, const Device& device,
          const apps::FilterRun& run) {
    if (options.explain) to_stderr("{}\n", run.explanation.text());
    if (!options.quiet) {
        to_stderr("{}: {} x {} x {} by convolution_2d/{} ({}) on {} in {:.2f} ms{}\n", printable(options.input),
                  image.width, image.height, image.channels, run.explanation.variant, run.explanation.configuration,
                  device.key(), run.milliseconds, device.is_cuda() ? ", transfers included" : "");
        for (const std::string& note : image.metadata.notes) to_stderr("{}: {}\n", printable(options.input), note);
        if (run.weighed_pixels > 0)
            to_stderr("{}: {} beside transparency weighed by alpha, on the CPU (--alpha independent does not)\n",
                      printable(options.input), counted(run.weighed_pixels, "pixel"));
        for (const std::string& loss : losses) to_stderr("{}: {}\n", printable(options.output), loss);
    }
    if (!options.json) return;
    const nlohmann::ordered_json line{{"input", options.input},
                                      {"output", options.output},
                                      {"width", image.width},
                                      {"height", image.height},
                                      {"channels", image.channels},
                                      {"device", device.key()},
                                      {"variant", run.explanation.variant},
                                      {"configuration", run.explanation.configuration},
                                      {"milliseconds", run.milliseconds},
                                      {"weighed_pixels", run.weighed_pixels},
                                      {"input_notes", image.metadata.notes},
                                      {"output_notes", losses}};
    print_json(line);
}

/// What contradicts itself, before anything is read.
void check_options(const ConvolveOptions& options) {
    io::check_image_ending(options.output);
    if (options.json && options.output == kStandardStream)
        throw Failure(ExitCode::usage, "the image goes to the standard output: leave out --json");
    if (options.input == kStandardStream && options.kernel == kStandardStream)
        throw Failure(ExitCode::usage, "the image and --kernel cannot both be the standard input: name a file");
    if (options.depth != 8)
        throw Failure(ExitCode::usage,
                      "--depth is 8: filters compute with 8 bits a channel, and more would hold nothing more");
    if ((options.quality != 0 || !options.subsampling.empty()) && !io::ends_as_jpeg(options.output))
        throw Failure(ExitCode::usage, "--quality and --subsampling are of JPEG: name an output that ends in .jpg");
    refuse_same_files({{"", options.output}}, {{"", options.input}, {"--kernel", filter_file(options.kernel)}});
}

/// Filters of 7x7 have no variants and run on the CPU.
Device device_for(const ConvolveOptions& options, const io::SquareFilter& filter) {
    const Device device = device_of(options.device);
    if (filter.side != 7) return device;
    if (!options.variant.empty()) throw Failure(ExitCode::usage, "7x7 filters have no variants: leave out --variant");
    if (device.is_cuda() && options.device != "auto")
        throw Failure(ExitCode::usage, "7x7 filters are computed on the CPU alone: say --device cpu");
    return Device::cpu();
}

io::JpegOptions jpeg_options(const ConvolveOptions& options) {
    io::JpegOptions jpeg;
    if (options.quality != 0) jpeg.quality = options.quality;
    if (!options.subsampling.empty())
        jpeg.subsampling = options.subsampling == "4:4:4"   ? io::Subsampling::s444
                           : options.subsampling == "4:2:2" ? io::Subsampling::s422
                                                            : io::Subsampling::s420;
    return jpeg;
}

void run_convolve(const ConvolveOptions& options) {
    check_options(options);
    apps::ImageFilter how{.filter = io::square_filter(options.kernel),
                          .border = border_of(options.border),
                          .offset = options.offset,
                          .weigh_by_alpha = options.alpha == "weighted",
                          .variant = options.variant};
    const Device device = device_for(options, how.filter);
    io::Image image = device::in_range("read image", [&] { return io::read_image(options.input, options.max_image); });
    const apps::FilterRun run =
        device::in_range("filter image", [&] { return apps::apply_filter(device, options.input, image, how); });
    const io::Losses losses =
        device::in_range("write image", [&] { return io::write_image(options.output, image, jpeg_options(options)); });
    tell(options, image, losses, device, run);
}

}  // namespace

void add_convolve(CLI::App& program, ExitCode&) {
    const auto options = std::make_shared<ConvolveOptions>();
    CLI::App& command = *program.add_subcommand("convolve", "Applies a 3x3, 5x5 or 7x7 filter to an image");
    command.add_option("input", options->input, "JPEG, PNG, TIFF, PGM or PPM image; - is the standard input")
        ->required();
    command
        .add_option("output", options->output,
                    "image to write: .png, .tif, .pgm or .ppm (lossless), .jpg; - is the standard output, as PNG")
        ->required();
    command
        .add_option("--kernel", options->kernel,
                    "laplace, gauss, sharpen, box, or a text file of 3, 5 or 7 rows of as many numbers; applied as a "
                    "correlation: not flipped")
        ->capture_default_str();
    add_number(command, "--offset", options->offset,
               "added to each sum after it is rounded, 0 to 255: 128 keeps what is below 0")
        ->check(within(0, 255))
        ->capture_default_str();
    command
        .add_option("--alpha", options->alpha,
                    "weighted: transparent pixels lend no colour to others; independent: they count as others do")
        ->check(one_of({"weighted", "independent"}))
        ->capture_default_str();
    command.add_option("--border", options->border, "what the filter reads outside the image")
        ->check(one_of({"zero", "replicate", "mirror"}))
        ->capture_default_str();
    add_number(command, "--quality", options->quality, "of a JPEG, 1 to 100 (default: as the input's, or 95)")
        ->check(within(1, 100));
    command
        .add_option("--subsampling", options->subsampling, "of a JPEG's colours (default: as the input's, or 4:2:0)")
        ->check(one_of({"4:4:4", "4:2:2", "4:2:0"}));
    add_number(command, "--depth", options->depth, "bits a channel of the output: 8")->capture_default_str();
    add_size(command, "--max-image", options->max_image, "refuse images of more bytes (default: 1GiB)");
    command.add_option("--device", options->device, kDeviceHelp)->capture_default_str();
    command.add_option("--variant", options->variant, "force a variant instead of the selector's choice");
    command.add_flag("--explain", options->explain, "say why this variant was chosen");
    command.add_flag("--json", options->json, "print what was done as JSON");
    command.add_flag("--quiet", options->quiet, "say nothing but errors");
    command.callback([options] { run_convolve(*options); });
}

}  // namespace espalier::bench::cli
