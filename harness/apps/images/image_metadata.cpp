#include "harness/apps/images/image_metadata.hpp"

#include <cmath>

namespace espalier::bench::io {
namespace {

constexpr std::uint32_t kOrientationTag = 0x0112;
constexpr std::uint32_t kShort = 3;  // a type of TIFF: 16 bits
constexpr std::size_t kEntryBytes = 12;

/// Numbers of a TIFF structure, in its own order of bytes; 0 beyond its end.
class TiffNumbers {
public:
    explicit TiffNumbers(std::string_view data) : data_(data), little_(data.substr(0, 2) == "II") {}

    [[nodiscard]] std::uint32_t at(std::size_t offset, std::size_t bytes) const {
        if (offset > data_.size() || bytes > data_.size() - offset) return 0;
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < bytes; ++i)
            value = value << 8 | static_cast<std::uint8_t>(data_[offset + (little_ ? bytes - 1 - i : i)]);
        return value;
    }

private:
    std::string_view data_;
    bool little_;
};

double per_metre(Resolution::Unit unit) {
    switch (unit) {
        case Resolution::Unit::inch: return 1 / 0.0254;
        case Resolution::Unit::centimetre: return 100;
        default: return 1;
    }
}

}  // namespace

int orientation_of(std::string_view exif) {
    if (exif.substr(0, 2) != "II" && exif.substr(0, 2) != "MM") return kUpright;
    const TiffNumbers numbers(exif);
    const std::size_t directory = numbers.at(4, 4);
    const std::size_t entries = numbers.at(directory, 2);
    for (std::size_t i = 0; i < entries; ++i) {
        const std::size_t entry = directory + 2 + i * kEntryBytes;
        if (numbers.at(entry, 2) != kOrientationTag || numbers.at(entry + 2, 2) != kShort) continue;
        const auto value = static_cast<int>(numbers.at(entry + 8, 2));
        return value >= 1 && value <= 8 ? value : kUpright;
    }
    return kUpright;
}

std::string exif_of_orientation(int orientation) {
    // Header, a directory at byte 8 of one entry (a short, and what is left of its four bytes), and no further
    // directory.
    std::string exif("MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0", 26);
    exif[19] = static_cast<char>(orientation);
    return exif;
}

bool is_known(const Resolution& resolution) {
    return std::isfinite(resolution.x) && std::isfinite(resolution.y) && resolution.x > 0 && resolution.y > 0;
}

Resolution in_unit(const Resolution& resolution, Resolution::Unit unit) {
    if (resolution.unit == Resolution::Unit::none || resolution.unit == unit) return resolution;
    const double factor = per_metre(resolution.unit) / per_metre(unit);
    return {resolution.x * factor, resolution.y * factor, unit};
}

}  // namespace espalier::bench::io
