// PNG files, written through libpng. As with libjpeg, errors leave by longjmp, so the functions around setjmp own
// nothing.

#include <zlib.h>

#include <cmath>
#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "harness/apps/images/codecs.hpp"
#include "harness/apps/images/image_metadata.hpp"
#include "harness/apps/images/png_messages.hpp"
#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {
namespace {

struct PngWriter {
    PngMessage message;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, on_png_error, on_png_warning);
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    PngWriter() = default;
    ~PngWriter() { png_destroy_write_struct(&png, &info); }
    PngWriter(const PngWriter&) = delete;
    PngWriter& operator=(const PngWriter&) = delete;
};

void append_big_endian(std::string& bytes, std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
}

std::string profile_chunk(const std::string& icc) {
    uLongf size = compressBound(icc.size());
    std::string packed(size, '\0');
    if (compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(icc.data()),
                 icc.size()) != Z_OK)
        throw std::bad_alloc();
    packed.resize(size);
    return std::string("ICC profile\0\0", 13) + packed;
}

/// Two numbers of 31 bits and whether they are per metre.
std::string resolution_chunk(const Resolution& resolution) {
    const Resolution metric = in_unit(resolution, Resolution::Unit::metre);
    std::string content;
    for (const double number : {metric.x, metric.y})
        append_big_endian(content,
                          static_cast<std::uint32_t>(std::min(std::max(1.0, std::round(number)), 2147483647.0)));
    return content += metric.unit == Resolution::Unit::metre ? '\1' : '\0';
}

/// What is written between the header and the pixels, as it stands in the file.
std::vector<std::pair<std::string, std::string>> chunks_of(const ImageMetadata& metadata) {
    auto chunks = metadata.png_chunks;
    if (!metadata.icc.empty()) chunks.emplace_back("iCCP", profile_chunk(metadata.icc));
    if (!metadata.exif.empty()) chunks.emplace_back("eXIf", metadata.exif);
    if (is_known(metadata.resolution)) chunks.emplace_back("pHYs", resolution_chunk(metadata.resolution));
    return chunks;
}

bool begin_png(PngWriter& writer, std::FILE* file, const Image& image) {
    if (setjmp(png_jmpbuf(writer.png))) return false;
    const int colour = image.channels == 1   ? PNG_COLOR_TYPE_GRAY
                       : image.channels == 3 ? PNG_COLOR_TYPE_RGB
                       : image.grey_alpha    ? PNG_COLOR_TYPE_GRAY_ALPHA
                                             : PNG_COLOR_TYPE_RGB_ALPHA;
    png_init_io(writer.png, file);
    png_set_user_limits(writer.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(writer.png, writer.info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height),
                 8, colour, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(writer.png, writer.info);
    return true;
}

bool write_chunk(PngWriter& writer, const std::string& type, const std::string& content) {
    if (setjmp(png_jmpbuf(writer.png))) return false;
    png_write_chunk(writer.png, reinterpret_cast<png_const_bytep>(type.c_str()),
                    reinterpret_cast<png_const_bytep>(content.data()), content.size());
    return true;
}

/// `row` has room for grey and alpha, or is empty where the image has no grey to take out.
bool write_rows(PngWriter& writer, const Image& image, std::vector<png_byte>& row) {
    if (setjmp(png_jmpbuf(writer.png))) return false;
    for (std::int64_t y = 0; y < image.height; ++y) {
        const png_byte* values = image.pixels.data() + static_cast<std::size_t>(y) * image.row_bytes();
        for (std::size_t i = 0; i < row.size(); ++i) row[i] = values[i / 2 * 4 + (i % 2 == 0 ? 0 : 3)];
        png_write_row(writer.png, row.empty() ? values : row.data());
    }
    png_write_end(writer.png, writer.info);
    return true;
}

}  // namespace

Losses write_png(std::FILE* file, const std::string& path, const Image& image) {
    if (image.width > PNG_UINT_31_MAX || image.height > PNG_UINT_31_MAX)
        throw BadFile(path, "PNG ends at 2,147,483,647 pixels a side; cut the image up");
    PngWriter writer;
    if (!writer.info) throw std::bad_alloc();
    bool good = begin_png(writer, file, image);
    for (const auto& [type, content] : chunks_of(image.metadata)) good = good && write_chunk(writer, type, content);
    std::vector<png_byte> row(image.channels == 4 && image.grey_alpha ? image.row_bytes() / 2 : 0);
    good = good && write_rows(writer, image, row);
    if (!good) throw BadFile(path, std::string("cannot be written: ") + writer.message.text);
    return {};
}

}  // namespace espalier::bench::io
