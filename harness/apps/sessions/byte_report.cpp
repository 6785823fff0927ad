#include "harness/apps/sessions/byte_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "harness/base/text/counted.hpp"

namespace espalier::bench::apps {
namespace {

/// How people know a byte: its character, the usual name of a control character, or nothing.
std::string name_of(std::size_t value) {
    constexpr std::string_view kControls[] = {
        "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT",  "LF",  "VT", "FF", "CR", "SO", "SI", "DLE",
        "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US", "SP"};
    if (value < std::size(kControls)) return std::string(kControls[value]);
    if (value == 127) return "DEL";
    return value < 127 ? std::string(1, static_cast<char>(value)) : "";
}

/// Eighths of a character make short bars comparable.
std::string bar_of(double share_of_most, int columns) {
    constexpr std::string_view kEighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    const auto eighths = static_cast<int>(std::lround(share_of_most * columns * 8));
    std::string bar;
    for (int i = 0; i < eighths / 8; ++i) bar += "█";
    return bar.append(kEighths[eighths % 8]);
}

std::string percent(double share) { return share >= 5e-5 ? fmt::format("{:.2f}%", 100 * share) : "<0.01%"; }

}  // namespace

int ByteCounts::distinct() const {
    return static_cast<int>(std::count_if(counts.begin(), counts.end(), [](std::uint64_t count) { return count > 0; }));
}

double ByteCounts::share(std::size_t value) const {
    return bytes == 0 ? 0 : static_cast<double>(counts[value]) / static_cast<double>(bytes);
}

double ByteCounts::entropy() const {
    double bits = 0;
    for (std::size_t value = 0; value < counts.size(); ++value)
        if (const double p = share(value); p > 0) bits += p * std::log2(1 / p);
    return bits;
}

std::string table_of(const ByteCounts& counts, int bar_columns, Counted what) {
    const std::uint64_t most = *std::max_element(counts.counts.begin(), counts.counts.end());
    const std::size_t width = std::max<std::size_t>(5, std::to_string(most).size());
    std::string text;
    const bool bytes = what == Counted::bytes;
    if (counts.bytes > 0) text += fmt::format("value {}{:>{}}    share\n", bytes ? "     " : "", "count", width);
    for (std::size_t value = 0; value < counts.counts.size(); ++value) {
        const std::uint64_t count = counts.counts[value];
        if (count == 0) continue;
        const std::string name =
            bytes ? fmt::format("{:3} {:02x} {:<3}", value, value, name_of(value)) : fmt::format("{:5}", value);
        text += fmt::format("{} {:>{}} {:>8}", name, count, width, percent(counts.share(value)));
        const double share_of_most = static_cast<double>(count) / static_cast<double>(most);
        const std::string bar = bar_columns > 0 ? bar_of(share_of_most, bar_columns) : "";
        text.append(bar.empty() ? "" : " ").append(bar).append("\n");
    }
    return text + fmt::format("{}, {} of 256 values, {:.4f} bits per {}\n",
                              counted(counts.bytes, bytes ? "byte" : "pixel"), counts.distinct(), counts.entropy(),
                              bytes ? "byte" : "pixel");
}

std::string csv_of(const ByteCounts& counts) {
    std::string text = "value,count,share\n";
    for (std::size_t value = 0; value < counts.counts.size(); ++value)
        text += fmt::format("{},{},{:.9g}\n", value, counts.counts[value], counts.share(value));
    return text;
}

}  // namespace espalier::bench::apps
