#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace espalier::bench::io {

/// An 8-bit image: height x width x channels bytes, row-major, channels interleaved, rows without padding.
struct Image {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 0;  ///< 1 grey, 3 RGB, 4 RGB and alpha
    std::vector<std::uint8_t> pixels;

    [[nodiscard]] std::size_t row_bytes() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
    }
};

/// More is refused unless it is asked for: a PNG of a few kilobytes can declare petabytes.
inline constexpr std::size_t kMaxImageBytes = std::size_t{1} << 30;

/// Reads a JPEG or PNG file; the content decides which, not the name. Values are the stored ones: no gamma,
/// colour profile or orientation tag is applied. Palettes and fewer than 8 bits are expanded, transparency
/// becomes alpha, grey with alpha becomes RGB with alpha. Throws BadFile for a file that is missing, not an
/// image, cut off or damaged (nothing is half-read), has 16 bits a channel, or is CMYK, and, before its pixels
/// take any memory, for one of more than `max_bytes` or of more than a file of its size can hold.
Image read_image(const std::string& path, std::size_t max_bytes = kMaxImageBytes);

/// An image of this shape, zeroed, computed from the file at `path`. Throws BadFile if it is empty or larger than the
/// memory that is free.
Image allocate_image(const std::string& path, std::int64_t width, std::int64_t height, int channels);

/// Writes PNG (lossless) or JPEG (quality 95), as the ending .png, .jpg or .jpeg says, atomically.
/// Throws BadFile for another ending, an image without pixels, or alpha in a JPEG.
void write_image(const std::string& path, const Image& image);

/// Throws BadFile unless `write_image` knows the ending: ask before a long computation.
void check_image_ending(const std::string& path);

}  // namespace espalier::bench::io
