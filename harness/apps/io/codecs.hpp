#pragma once

#include <cstdio>
#include <string>

#include "harness/apps/io/image.hpp"

/// The image formats behind image.hpp. `path` is for messages only; streams are at their start.
namespace espalier::bench::io {

Image read_jpeg(std::FILE* file, const std::string& path);
Image read_png(std::FILE* file, const std::string& path);
void write_jpeg(std::FILE* file, const std::string& path, const Image& image);
void write_png(std::FILE* file, const std::string& path, const Image& image);

/// Throws BadFile if an image of this shape is empty or larger than kMaxImageBytes.
void check_image_size(const std::string& path, std::int64_t width, std::int64_t height, int channels);

/// Throws BadFile if that many bytes are not available.
void check_memory(const std::string& path, std::size_t bytes, std::size_t available);

}  // namespace espalier::bench::io
