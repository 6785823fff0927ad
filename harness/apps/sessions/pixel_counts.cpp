#include "harness/apps/sessions/pixel_counts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "espalier/histogram.hpp"
#include "harness/apps/io/bad_file.hpp"
#include "harness/base/clock.hpp"
#include "harness/base/failure.hpp"

namespace espalier::bench::apps {
namespace {

/// Whether each pixel counts. A JPEG's black is not quite black; that is the user's to know.
std::vector<char> chosen_by(const io::Image& mask) {
    std::vector<char> chosen(mask.pixels.size() / static_cast<std::size_t>(mask.channels));
    const auto channels = static_cast<std::size_t>(mask.channels);
    for (std::size_t i = 0; i < chosen.size(); ++i)
        chosen[i] = std::any_of(mask.pixels.begin() + static_cast<std::ptrdiff_t>(i * channels),
                                mask.pixels.begin() + static_cast<std::ptrdiff_t>((i + 1) * channels),
                                [](std::uint8_t value) { return value != 0; });
    return chosen;
}

void check_mask(const io::Image& image, const io::Image& mask, const std::string& path) {
    if (mask.width != image.width || mask.height != image.height)
        throw io::BadFile(path, fmt::format("is {} x {} pixels, and the image {} x {}: a mask has the image's size",
                                            mask.width, mask.height, image.width, image.height));
    if (mask.channels == 4)
        throw io::BadFile(path, "has transparency: a mask is black where pixels do not count, and opaque; flatten it");
}

/// The channels that a file stores, of an image whose grey was spread over three.
std::vector<std::pair<std::string, std::size_t>> channels_of(const io::Image& image) {
    if (image.channels == 1) return {{"grey", 0}};
    if (image.grey_alpha) return {{"grey", 0}, {"alpha", 3}};
    std::vector<std::pair<std::string, std::size_t>> channels{{"red", 0}, {"green", 1}, {"blue", 2}};
    if (image.channels == 4) channels.emplace_back("alpha", 3);
    return channels;
}

}  // namespace

PixelCounts count_pixels(const Device& device, const io::Image& image, const io::Image* mask,
                         const std::string& mask_path, const std::string& variant) {
    std::vector<char> chosen;
    if (mask) {
        check_mask(image, *mask, mask_path);
        chosen = chosen_by(*mask);
    }
    PixelCounts result;
    std::vector<std::uint8_t> values;
    const std::size_t pixels = image.pixels.size() / static_cast<std::size_t>(image.channels);
    values.reserve(pixels);
    for (const auto& [name, channel] : channels_of(image)) {
        values.clear();
        for (std::size_t i = 0; i < pixels; ++i)
            if (!mask || chosen[i])
                values.push_back(image.pixels[i * static_cast<std::size_t>(image.channels) + channel]);
        const auto size = static_cast<std::int64_t>(values.size());
        if (result.channels.empty())
            result.explanation = value_or_fail(explain_count_bytes(device, size, {.variant = variant}));
        ChannelCounts counts{name, {.bytes = values.size()}};
        const double before = steady_seconds();
        succeed_or_fail(count_bytes(device, values.data(), size, counts.counts.counts.data(), {.variant = variant}));
        result.counting_seconds += steady_seconds() - before;
        result.channels.push_back(std::move(counts));
        result.pixels = values.size();
    }
    return result;
}

std::string table_of(const PixelCounts& counts, int bar_columns) {
    std::string text;
    for (const ChannelCounts& channel : counts.channels) {
        text.append(text.empty() ? "" : "\n").append(channel.channel).append("\n");
        text += table_of(channel.counts, bar_columns, Counted::pixels);
    }
    return text;
}

std::string csv_of(const PixelCounts& counts) {
    std::string text = "value";
    for (const ChannelCounts& channel : counts.channels) text.append(",").append(channel.channel);
    text += "\n";
    for (std::size_t value = 0; value < 256; ++value) {
        text += std::to_string(value);
        for (const ChannelCounts& channel : counts.channels)
            text.append(",").append(std::to_string(channel.counts.counts[value]));
        text += "\n";
    }
    return text;
}

}  // namespace espalier::bench::apps
