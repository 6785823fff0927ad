#pragma once

#include <cstdio>
#include <string>

#include "harness/io/image.hpp"

/// The image formats behind image.hpp. `path` is for messages only; streams are at their start.
namespace espalier::io {

Image read_jpeg(std::FILE* file, const std::string& path);
Image read_png(std::FILE* file, const std::string& path);
void write_jpeg(std::FILE* file, const std::string& path, const Image& image);
void write_png(std::FILE* file, const std::string& path, const Image& image);

/// Throws BadFile if an image of this shape is empty or larger than kMaxImageBytes.
void check_image_size(const std::string& path, std::int64_t width, std::int64_t height, int channels);

/// An image of this shape with its memory allocated, after the same check.
Image allocate_image(const std::string& path, std::int64_t width, std::int64_t height, int channels);

}  // namespace espalier::io
