// espalier convolve: a 5x5 filter over a photograph, by the variant that the selector chooses.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "espalier/convolution_2d.hpp"
#include "harness/apps/io/filter.hpp"
#include "harness/apps/io/image.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/device_option.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/files/replaced_file.hpp"
#include "harness/files/same_file.hpp"
#include "harness/text/printable.hpp"
#include "harness/text/to_stderr.hpp"

namespace espalier::bench::cli {
namespace {

struct ConvolveOptions {
    std::string input, output;
    std::string kernel = "laplace";
    std::string device = "auto";
    std::string variant;
    std::string border = "mirror";
    std::uint64_t max_image = io::kMaxImageBytes;
    bool explain = false;
    bool quiet = false;
    bool json = false;
};

struct Run {
    Explanation explanation;
    double milliseconds;
};

/// The text file that --kernel names; empty if it is a filter's own name.
std::string filter_file(const std::string& kernel) {
    return std::ranges::count(io::filter_names(), kernel) ? "" : kernel;
}

Border border_of(const std::string& name) {
    return name == "zero" ? Border::zero : name == "replicate" ? Border::replicate : Border::mirror;
}

/// The result replaces `image`. Transparency is kept: filtered by Laplace, say, it would hide the result.
Run convolve(const Device& device, io::Image& image, const Filter5x5& filter, const ConvolveOptions& options) {
    const ImageShape shape{image.width, image.height, image.channels};
    const Border border = border_of(options.border);
    Run run{value_or_fail(explain_convolve_2d(device, shape, filter, border, {.variant = options.variant})), 0};
    io::Image result = io::allocate_image(options.input, image.width, image.height, image.channels);
    const auto start = std::chrono::steady_clock::now();
    succeed_or_fail(convolve_2d(device, ConstImage(image.pixels.data(), shape), filter, border,
                                Image{result.pixels.data(), shape}, {.variant = options.variant}));
    run.milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    for (std::size_t alpha = 3; image.channels == 4 && alpha < result.pixels.size(); alpha += 4)
        result.pixels[alpha] = image.pixels[alpha];
    image = std::move(result);
    return run;
}

void tell(const ConvolveOptions& options, const io::Image& image, const Device& device, const Run& run) {
    if (options.explain) to_stderr("{}\n", run.explanation.text());
    if (!options.quiet)
        to_stderr("{}: {} x {} x {} by convolution_2d/{} ({}) on {} in {:.2f} ms{}\n", printable(options.input),
                  image.width, image.height, image.channels, run.explanation.variant, run.explanation.configuration,
                  device.key(), run.milliseconds, device.is_cuda() ? ", transfers included" : "");
    if (!options.json) return;
    const nlohmann::ordered_json line{{"input", options.input},
                                      {"output", options.output},
                                      {"width", image.width},
                                      {"height", image.height},
                                      {"channels", image.channels},
                                      {"device", device.key()},
                                      {"variant", run.explanation.variant},
                                      {"configuration", run.explanation.configuration},
                                      {"milliseconds", run.milliseconds}};
    print_json(line);
}

void run_convolve(const ConvolveOptions& options) {
    io::check_image_ending(options.output);
    if (options.json && options.output == kStandardStream)
        throw Failure(ExitCode::usage, "the image goes to the standard output: leave out --json");
    refuse_same_files({{"", options.output}}, {{"", options.input}, {"--kernel", filter_file(options.kernel)}});
    const Device device = device_of(options.device);
    const Filter5x5 filter = io::filter(options.kernel);
    io::Image image = io::read_image(options.input, options.max_image);
    const Run run = convolve(device, image, filter, options);
    io::write_image(options.output, image);
    tell(options, image, device, run);
}

}  // namespace

void add_convolve(Command& app, ExitCode&) {
    const auto options = std::make_shared<ConvolveOptions>();
    Command command = app.add_subcommand("convolve", "Applies a 5x5 filter to a JPEG or PNG image");
    command.add_option("input", options->input, "JPEG or PNG image; - is the standard input").required();
    command
        .add_option("output", options->output,
                    "image to write: .png (lossless), .jpg or .jpeg; - is the standard output, as PNG")
        .required();
    command.add_option("--kernel", options->kernel, "laplace, gauss, sharpen, box, or a text file of 25 numbers")
        .capture_default_str();
    command.add_option("--border", options->border, "what the filter reads outside the image")
        .one_of({"zero", "replicate", "mirror"})
        .capture_default_str();
    command.add_option("--max-image", options->max_image, "refuse images of more bytes (default: 1GiB)").bytes();
    command.add_option("--device", options->device, kDeviceHelp).capture_default_str();
    command.add_option("--variant", options->variant, "force a variant instead of the selector's choice");
    command.add_flag("--explain", options->explain, "say why this variant was chosen");
    command.add_flag("--json", options->json, "print what was done as JSON");
    command.add_flag("--quiet", options->quiet, "say nothing but errors");
    command.callback([options] { run_convolve(*options); });
}

}  // namespace espalier::bench::cli
