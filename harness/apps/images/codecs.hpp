#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "harness/apps/images/image.hpp"
#include "harness/apps/images/image_source.hpp"

/// The image formats behind image.hpp. Sources are at their start; `path` is for messages only. What a writer returns
/// is what its format does not hold, in words for the user.
namespace espalier::bench::io {

Image read_jpeg(ImageSource& source);
Image read_png(ImageSource& source);
Image read_pnm(ImageSource& source);
Image read_tiff(ImageSource& source);

Losses write_jpeg(std::FILE* file, const std::string& path, const Image& image, const JpegOptions& options);
Losses write_png(std::FILE* file, const std::string& path, const Image& image);
Losses write_pnm(std::FILE* file, const std::string& path, const Image& image, bool grey);
/// Returns the file's content: TIFF is written back and forth, which a pipe does not allow.
std::string encode_tiff(const std::string& path, const Image& image, Losses& losses);

/// Throws BadFile if an image of this shape is empty, larger than the source allows, or larger than its file can hold,
/// of which each byte stands for at most `most_per_byte` of `stored` bytes.
void check_image_size(ImageSource& source, std::int64_t width, std::int64_t height, int channels, std::uint64_t stored,
                      std::uint64_t most_per_byte);

/// An image of this shape without any rows yet, which `add_row` makes room for, so that a file that ends early
/// takes no more memory than its rows. Throws BadFile if the whole will not fit into what is free.
Image reserve_image(const std::string& path, std::int64_t width, std::int64_t height, int channels);
std::uint8_t* add_row(Image& image);

/// Throws BadFile if that many bytes are not available.
void check_memory(const std::string& path, std::size_t bytes, std::size_t available);

/// 16 bits to 8, to nearest.
constexpr std::uint8_t eight_bits(std::uint32_t value) {
    return static_cast<std::uint8_t>((value * 255 + 32767) / 65535);
}
inline constexpr const char* kRoundedNote = "16 bits a channel were rounded to 8, which is what filters compute with";

}  // namespace espalier::bench::io
