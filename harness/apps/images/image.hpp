#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace espalier::bench::io {

/// How many pixels there are to a length, across and down; a pair of 0 is not known.
struct Resolution {
    enum class Unit { none, inch, centimetre, metre };  ///< none: only the ratio, a pixel's shape, is known

    double x = 0, y = 0;
    Unit unit = Unit::none;
};

/// How much of the colours' detail a JPEG stores: all, half of it across, or half of it across and down.
enum class Subsampling { s444, s422, s420 };

/// How a JPEG was compressed: what it takes to compress another image alike.
struct JpegCoding {
    using Table = std::array<std::uint16_t, 64>;  ///< quantisation steps, row by row

    std::array<std::optional<Table>, 4> tables;
    std::array<int, 3> table_of{};                  ///< component -> table
    std::array<std::pair<int, int>, 3> sampling{};  ///< component -> factors across and down
    bool progressive = false;
};

/// What an image file says beside its pixels and what an output keeps, of whatever format it is.
struct ImageMetadata {
    std::string exif;  ///< a TIFF structure ("II*" or "MM*" first), without "Exif" before it; empty if there is none
    std::string icc;   ///< the colour profile; empty if there is none
    Resolution resolution;
    /// Chunks of a PNG that say how its values mean colours, without a profile: type and content. Only PNG holds them.
    std::vector<std::pair<std::string, std::string>> png_chunks;
    std::optional<JpegCoding> jpeg;  ///< of a JPEG of grey or YCbCr

    /// What reading changed or could not keep, in words for the user.
    std::vector<std::string> notes;
};

/// An 8-bit image: height x width x channels bytes, row-major, channels interleaved, rows without padding.
struct Image {
    std::int64_t width = 0;
    std::int64_t height = 0;
    int channels = 0;  ///< 1 grey, 3 RGB, 4 RGB and alpha, which is not multiplied into the colours
    std::vector<std::uint8_t> pixels;
    bool grey_alpha = false;  ///< of 4 channels: the three colours are one grey, and files store it so
    ImageMetadata metadata{};

    [[nodiscard]] std::size_t row_bytes() const {
        return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels);
    }
};

/// More is refused unless it is asked for: a PNG of a few kilobytes can declare petabytes.
inline constexpr std::size_t kMaxImageBytes = std::size_t{1} << 30;

/// Reads a JPEG, PNG, TIFF, PGM or PPM file, or a pipe; the content decides which, not the name. Values are the stored
/// ones: no gamma, colour profile or orientation is applied; they are in the metadata. Palettes and fewer than 8 bits
/// are expanded, 16 bits are rounded to 8 (v * 255 / 65535, to nearest), transparency becomes alpha, grey with
/// alpha becomes RGB with alpha. Throws BadFile for a file that is missing, not an image, cut off or damaged (nothing
/// is half-read) or of a kind that is not read, such as CMYK, and, before its pixels take any memory, for one of more
/// than `max_bytes` or of more than a file of its size can hold.
Image read_image(const std::string& path, std::size_t max_bytes = kMaxImageBytes);

/// What the formats that an image is read from are called, for messages and help.
inline constexpr const char* kImageFormats = "JPEG, PNG, TIFF, PGM or PPM";

/// An image of this shape, zeroed, computed from the file at `path`. Throws BadFile if it is empty or larger than the
/// memory that is free.
Image allocate_image(const std::string& path, std::int64_t width, std::int64_t height, int channels);

/// How a JPEG is to be compressed.
struct JpegOptions {
    std::optional<int> quality;              ///< 1 to 100; else as the input was, if that was a JPEG, or 95
    std::optional<Subsampling> subsampling;  ///< else as the input was, or 4:2:0
};

/// What an output format does not hold of an image, in words for the user.
using Losses = std::vector<std::string>;

/// Writes PNG or TIFF (both lossless), JPEG, PGM or PPM, as the ending says, atomically, with the metadata that the
/// format holds. Returns what it does not hold. Throws BadFile for another ending, an image
/// without pixels, alpha in a JPEG, PGM or PPM, and colours in a PGM.
Losses write_image(const std::string& path, const Image& image, const JpegOptions& options = {});

/// Throws BadFile unless `write_image` knows the ending: ask before a long computation.
void check_image_ending(const std::string& path);

/// Whether `write_image` would write a JPEG.
bool ends_as_jpeg(const std::string& path);

}  // namespace espalier::bench::io
