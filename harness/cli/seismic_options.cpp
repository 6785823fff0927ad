#include "harness/cli/seismic_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "harness/cli/command.hpp"
#include "harness/cli/parse.hpp"

namespace espalier::bench::cli {
namespace {

constexpr std::int64_t kMostNodes = 1 << 28;

/// The numbers between separators; empty if any part is no finite number.
std::vector<double> numbers_in(const std::string& text, char separator) {
    std::vector<double> numbers;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (true) {
        double value = 0;
        const auto [stop, error] = std::from_chars(at, end, value);
        if (error != std::errc{} || !std::isfinite(value)) return {};
        numbers.push_back(value);
        if (stop == end) return numbers;
        if (*stop != separator) return {};
        at = stop + 1;
    }
}

}  // namespace

void add_grid_options(CLI::App& command, GridOptions& options) {
    command.add_option("--grid", options.nodes, "trial sources along x, y and z")->capture_default_str();
    command.add_option("--spacing", options.spacing, "metres between them: one number, or three: dx,dy,dz")
        ->capture_default_str();
    command.add_option("--origin", options.origin, "the first of them: x,y,z in metres, as the receivers' coordinates")
        ->capture_default_str();
}

seismic::Grid grid_of(const GridOptions& options) {
    const auto nodes = numbers_in(options.nodes, 'x');
    const bool whole = nodes.size() == 3 && std::all_of(nodes.begin(), nodes.end(), [](double n) {
                           return n >= 1 && n <= kMostNodes && n == std::floor(n);
                       });
    if (!whole || nodes[0] * nodes[1] * nodes[2] > kMostNodes)
        throw Failure(ExitCode::usage, fmt::format("--grid is three whole numbers such as 10x10x10, at most {} nodes "
                                                   "together, not '{}'",
                                                   kMostNodes, options.nodes));
    auto spacing = numbers_in(options.spacing, ',');
    if (spacing.size() == 1) spacing.assign(3, spacing[0]);
    if (spacing.size() != 3 || std::any_of(spacing.begin(), spacing.end(), [](double s) { return s == 0; }))
        throw Failure(ExitCode::usage, "--spacing is one distance in metres or three, such as 50 or 50,50,25, not '" +
                                           options.spacing + "'");
    const auto origin = parse_numbers(options.origin, 3, "--origin");
    return {.origin = {origin[0], origin[1], origin[2]},
            .spacing = {spacing[0], spacing[1], spacing[2]},
            .columns = static_cast<std::int64_t>(nodes[0]),
            .rows = static_cast<std::int64_t>(nodes[1]),
            .layers = static_cast<std::int64_t>(nodes[2])};
}

std::vector<double> parse_numbers(const std::string& text, std::size_t count, const char* option) {
    auto numbers = numbers_in(text, ',');
    if (numbers.size() != count)
        throw Failure(ExitCode::usage,
                      fmt::format("{} is {} numbers with commas between them, not '{}'", option, count, text));
    return numbers;
}

std::int64_t parse_samples(const std::string& text, double rate, const char* option) {
    const bool unit = !text.empty() && text.back() >= 'a' && text.back() <= 'z';
    double samples = 0;
    if (unit)
        samples = std::round(parse_duration(text, option) * rate);
    else if (const auto numbers = numbers_in(text, ','); numbers.size() == 1)
        samples = numbers[0];
    if (!(samples >= 1 && samples <= 1e15) || samples != std::floor(samples))
        throw Failure(ExitCode::usage, fmt::format("{} is a number of samples such as 12000, or a time such as 30s, "
                                                   "not '{}'",
                                                   option, text));
    return static_cast<std::int64_t>(samples);
}

}  // namespace espalier::bench::cli
