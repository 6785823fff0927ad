#pragma once

#include <string>
#include <vector>

#include "espalier/device.hpp"
#include "espalier/explanation.hpp"
#include "harness/apps/images/image.hpp"
#include "harness/apps/sessions/byte_report.hpp"

namespace espalier::bench::apps {

/// The values of one channel of an image.
struct ChannelCounts {
    std::string channel;  ///< grey, red, green, blue or alpha
    ByteCounts counts;
};

struct PixelCounts {
    std::vector<ChannelCounts> channels;
    std::uint64_t pixels = 0;  ///< that were counted
    double counting_seconds = 0;
    Explanation explanation;
};

/// Counts the values of each channel, by the library; where there is a mask, of the pixels alone where it is not black.
/// `variant` is one instead of the selector's choice. Throws BadFile, with the mask's path, for a mask of another size
/// or with transparency.
PixelCounts count_pixels(const Device& device, const io::Image& image, const io::Image* mask,
                         const std::string& mask_path, const std::string& variant);

/// A table for each channel, with bars where `bar_columns` is more than 0.
std::string table_of(const PixelCounts& counts, int bar_columns);

/// "value", and a column for each channel; 256 rows.
std::string csv_of(const PixelCounts& counts);

}  // namespace espalier::bench::apps
