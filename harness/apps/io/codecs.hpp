#pragma once

#include <cstdio>
#include <string>

#include "harness/apps/io/image.hpp"

/// The image formats behind image.hpp. `path` is for messages only; streams are at their start.
namespace espalier::bench::io {

/// A file to decode and what its image may be.
struct ImageSource {
    std::FILE* file;
    const std::string& path;
    std::uint64_t file_bytes;
    std::size_t max_bytes;  ///< of pixels
};

Image read_jpeg(const ImageSource& source);
Image read_png(const ImageSource& source);
void write_jpeg(std::FILE* file, const std::string& path, const Image& image);
void write_png(std::FILE* file, const std::string& path, const Image& image);

/// Throws BadFile if an image of this shape is empty, larger than the source allows, or larger than its file can hold,
/// of which each byte stands for at most `most_per_byte` of `stored` bytes.
void check_image_size(const ImageSource& source, std::int64_t width, std::int64_t height, int channels,
                      std::uint64_t stored, std::uint64_t most_per_byte);

/// An image of this shape without any rows yet, which `add_row` makes room for, so that a file that ends early
/// takes no more memory than its rows. Throws BadFile if the whole will not fit into what is free.
Image reserve_image(const std::string& path, std::int64_t width, std::int64_t height, int channels);
std::uint8_t* add_row(Image& image);

/// Throws BadFile if that many bytes are not available.
void check_memory(const std::string& path, std::size_t bytes, std::size_t available);

}  // namespace espalier::bench::io
