// PNG through libpng. As with libjpeg, errors leave by longjmp, so the functions around setjmp own nothing.

#include <png.h>

#include <csetjmp>
#include <string>
#include <vector>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/codecs.hpp"

namespace espalier::bench::io {
namespace {

/// libpng's message of the last error; fixed storage because it is written just before longjmp.
struct Message {
    char text[200] = "";
    char warning[200] = "";
};

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
    auto* message = static_cast<Message*>(png_get_error_ptr(png));
    std::snprintf(message->text, sizeof message->text, "%s", text);
    png_longjmp(png, 1);
}

/// Ignores warnings: those of ancillary chunks change no pixel, those of the header say what its error does not.
void on_warning(png_structp png, png_const_charp text) {
    auto* message = static_cast<Message*>(png_get_error_ptr(png));
    std::snprintf(message->warning, sizeof message->warning, "%s", text);
}

std::string header_problem(const Message& message) {
    std::string problem("is no valid PNG image: ");
    problem += message.text;
    if (message.warning[0]) problem.append(" (").append(message.warning).append(")");
    return problem + "; get the whole file again";
}

struct Reader {
    Message message;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    Reader() = default;
    ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
};

struct Writer {
    Message message;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, on_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    Writer() = default;
    ~Writer() { png_destroy_write_struct(&png, &info); }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
};

bool read_header(Reader& reader, std::FILE* file) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    png_init_io(reader.png, file);
    // libpng would stop at a million a side; check_image_size has the limit that matters, on the product.
    png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    // Texts and profiles, which nothing here looks at, are deflated, too.
    png_set_chunk_cache_max(reader.png, 16);
    png_set_chunk_malloc_max(reader.png, 4 << 20);
    png_read_info(reader.png, reader.info);
    return true;
}

/// Channels of the image as we deliver it: 1, 3 or 4.
int channels(const Reader& reader) {
    const auto colour = png_get_color_type(reader.png, reader.info);
    const bool transparent = png_get_valid(reader.png, reader.info, PNG_INFO_tRNS) != 0;
    if ((colour & PNG_COLOR_MASK_ALPHA) || transparent) return 4;
    return colour == PNG_COLOR_TYPE_GRAY ? 1 : 3;
}

/// Asks for these channels with 8 bits each.
bool choose_output(Reader& reader) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    png_set_expand(reader.png);  // palette to RGB, few bits to 8, transparency to alpha
    if (channels(reader) == 4) png_set_gray_to_rgb(reader.png);
    png_set_interlace_handling(reader.png);
    png_read_update_info(reader.png, reader.info);
    return true;
}

/// Reads all pixels and on to the end of the file, so that a cut is noticed wherever it is.
bool read_rows(Reader& reader, Image& image) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    for (std::int64_t y = 0; y < image.height; ++y) png_read_row(reader.png, add_row(image), nullptr);
    png_read_end(reader.png, nullptr);
    return true;
}

/// Reads an interlaced image, whose rows come several times.
bool read_passes(Reader& reader, png_bytepp rows) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    png_read_image(reader.png, rows);
    png_read_end(reader.png, nullptr);
    return true;
}

bool read_interlaced(Reader& reader, Image& image) {
    std::vector<png_bytep> rows(static_cast<std::size_t>(image.height));
    for (std::size_t y = 0; y < rows.size(); ++y) add_row(image);
    for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = image.pixels.data() + y * image.row_bytes();
    return read_passes(reader, rows.data());
}

/// Bytes of the scanlines as they are deflated: less than three times 2^62.
std::uint64_t scanline_bytes(const Reader& reader) {
    const std::uint64_t bits = std::uint64_t{png_get_image_width(reader.png, reader.info)} *
                               png_get_bit_depth(reader.png, reader.info) *
                               (png_get_color_type(reader.png, reader.info) == PNG_COLOR_TYPE_PALETTE
                                    ? 1U
                                    : png_get_channels(reader.png, reader.info));
    return (bits + 7) / 8 * png_get_image_height(reader.png, reader.info);
}

bool write_pixels(Writer& writer, std::FILE* file, const Image& image) {
    if (setjmp(png_jmpbuf(writer.png))) return false;
    const int colour = image.channels == 1   ? PNG_COLOR_TYPE_GRAY
                       : image.channels == 3 ? PNG_COLOR_TYPE_RGB
                                             : PNG_COLOR_TYPE_RGB_ALPHA;
    png_init_io(writer.png, file);
    png_set_user_limits(writer.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(writer.png, writer.info, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height),
                 8, colour, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(writer.png, writer.info);
    for (std::int64_t y = 0; y < image.height; ++y)
        png_write_row(writer.png, image.pixels.data() + static_cast<std::size_t>(y) * image.row_bytes());
    png_write_end(writer.png, writer.info);
    return true;
}

}  // namespace

Image read_png(const ImageSource& source) {
    constexpr std::uint64_t kDeflate = 1032;  // bytes for each that is stored, at most: 258 for two bits
    const std::string& path = source.path;
    Reader reader;
    if (!reader.info) throw std::bad_alloc();
    if (!read_header(reader, source.file)) throw BadFile(path, header_problem(reader.message));
    if (png_get_bit_depth(reader.png, reader.info) == 16)
        throw BadFile(path,
                      "has 16 bits a channel; convert it to 8, for instance with ImageMagick: convert in.png "
                      "-depth 8 out.png");
    // Before libpng sets up its row buffers, which it does for whatever width the file declares.
    const std::int64_t width = png_get_image_width(reader.png, reader.info);
    const std::int64_t height = png_get_image_height(reader.png, reader.info);
    check_image_size(source, width, height, channels(reader), scanline_bytes(reader), kDeflate);
    if (!choose_output(reader)) throw BadFile(path, header_problem(reader.message));
    Image image = reserve_image(path, width, height, png_get_channels(reader.png, reader.info));
    const bool interlaced = png_get_interlace_type(reader.png, reader.info) != PNG_INTERLACE_NONE;
    if (!(interlaced ? read_interlaced(reader, image) : read_rows(reader, image)))
        throw BadFile(path,
                      std::string("is cut off or damaged: ") + reader.message.text + "; get the whole file again");
    return image;
}

void write_png(std::FILE* file, const std::string& path, const Image& image) {
    if (image.width > PNG_UINT_31_MAX || image.height > PNG_UINT_31_MAX)
        throw BadFile(path, "PNG ends at 2,147,483,647 pixels a side; cut the image up");
    Writer writer;
    if (!writer.info) throw std::bad_alloc();
    if (!write_pixels(writer, file, image))
        throw BadFile(path, std::string("cannot be written: ") + writer.message.text);
}

}  // namespace espalier::bench::io
