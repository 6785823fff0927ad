// PNG through libpng. As with libjpeg, errors leave by longjmp, so the functions around setjmp own nothing.

#include <zlib.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/images/codecs.hpp"
#include "harness/apps/images/image_metadata.hpp"
#include "harness/apps/images/png_messages.hpp"
#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {
namespace {

// How libpng takes a list of names: five bytes each.
constexpr png_byte kKeptChunks[] = "iCCP\0eXIf\0pHYs\0gAMA\0cHRM\0sRGB\0cICP\0acTL";
constexpr int kKeptChunkCount = sizeof kKeptChunks / 5;
constexpr png_byte kPassedOver[] = "tEXt\0zTXt\0iTXt\0sPLT";  // nothing here looks at them, and they may be deflated
constexpr int kPassedOverCount = sizeof kPassedOver / 5;

std::string header_problem(const PngMessage& message) {
    std::string problem("is no valid PNG image: ");
    problem += message.text;
    if (message.warning[0]) problem.append(" (").append(message.warning).append(")");
    return problem + "; get the whole file again";
}

struct Reader {
    PngMessage message;
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message, on_png_error, on_png_warning);
    png_infop info = png ? png_create_info_struct(png) : nullptr;
    png_infop end = png ? png_create_info_struct(png) : nullptr;  ///< what comes after the pixels
    Reader() = default;
    ~Reader() { png_destroy_read_struct(&png, &info, &end); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
};

void read_from_source(png_structp png, png_bytep to, std::size_t count) {
    if (static_cast<ImageSource*>(png_get_io_ptr(png))->read(to, count) < count) png_error(png, "Read Error");
}

bool read_header(Reader& reader, ImageSource& source) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    png_set_read_fn(reader.png, &source, read_from_source);
    // Chunks that are passed on are kept as they are: libpng would check profiles, and drop those that it dislikes.
    png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_ALWAYS, kKeptChunks, kKeptChunkCount);
    // libpng would stop at a million a side; check_image_size has the limit that matters, on the product.
    png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, kPassedOver, kPassedOverCount);
    png_set_chunk_cache_max(reader.png, 16);
    png_set_chunk_malloc_max(reader.png, kMostProfileBytes);
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
    png_set_scale_16(reader.png);
    if (channels(reader) == 4) png_set_gray_to_rgb(reader.png);
    png_set_interlace_handling(reader.png);
    png_read_update_info(reader.png, reader.info);
    return true;
}

/// Reads all pixels and on to the end of the file, so that a cut is noticed wherever it is.
bool read_rows(Reader& reader, Image& image) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    for (std::int64_t y = 0; y < image.height; ++y) png_read_row(reader.png, add_row(image), nullptr);
    png_read_end(reader.png, reader.end);
    return true;
}

/// Reads an interlaced image, whose rows come several times.
bool read_passes(Reader& reader, png_bytepp rows) {
    if (setjmp(png_jmpbuf(reader.png))) return false;
    png_read_image(reader.png, rows);
    png_read_end(reader.png, reader.end);
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

std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = at; i < at + 4; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
    return value;
}

/// The profile of an iCCP chunk: a name, a zero, another (how it is packed), and it, deflated. Empty if it is damaged.
std::string inflated_profile(std::string_view chunk) {
    const std::size_t name = chunk.find('\0');
    if (name == std::string_view::npos || name + 2 >= chunk.size() || chunk[name + 1] != '\0') return {};
    chunk.remove_prefix(name + 2);
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(chunk.data()));
    stream.avail_in = static_cast<uInt>(chunk.size());
    std::string profile;
    int status = Z_OK;
    constexpr std::size_t kPiece = 64 << 10;
    while (status == Z_OK && profile.size() <= kMostProfileBytes) {
        profile.resize(profile.size() + kPiece);
        stream.next_out = reinterpret_cast<Bytef*>(profile.data() + profile.size() - kPiece);
        stream.avail_out = kPiece;
        status = inflate(&stream, Z_NO_FLUSH);
        profile.resize(profile.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END && profile.size() <= kMostProfileBytes ? profile : std::string();
}

void add_chunk(ImageMetadata& metadata, const std::string& type, std::string_view content) {
    if (type == "iCCP") {
        metadata.icc = inflated_profile(content);
        if (metadata.icc.empty()) metadata.notes.emplace_back("its colour profile is damaged or huge and is left out");
    } else if (type == "eXIf") {
        metadata.exif = content.substr(0, 6) == std::string_view("Exif\0\0", 6) ? content.substr(6) : content;
    } else if (type == "pHYs" && content.size() == 9) {
        metadata.resolution = {static_cast<double>(big_endian(content, 0)), static_cast<double>(big_endian(content, 4)),
                               content[8] == 1 ? Resolution::Unit::metre : Resolution::Unit::none};
    } else if (type == "acTL") {
        metadata.notes.emplace_back("it is animated: only its first image is read");
    } else if (std::ranges::find(metadata.png_chunks, type, &std::pair<std::string, std::string>::first) ==
               metadata.png_chunks.end()) {
        metadata.png_chunks.emplace_back(type, content);
    }
}

void add_chunks(const Reader& reader, png_infop info, ImageMetadata& metadata) {
    png_unknown_chunkp chunks = nullptr;
    const int count = png_get_unknown_chunks(reader.png, info, &chunks);
    for (int i = 0; i < count; ++i)
        add_chunk(metadata, reinterpret_cast<const char*>(chunks[i].name),
                  {reinterpret_cast<const char*>(chunks[i].data), chunks[i].size});
}

}  // namespace

Image read_png(ImageSource& source) {
    constexpr std::uint64_t kDeflate = 1032;  // bytes for each that is stored, at most: 258 for two bits
    const std::string& path = source.path();
    Reader reader;
    if (!reader.info || !reader.end) throw std::bad_alloc();
    const bool begun = read_header(reader, source);
    source.rethrow();
    if (!begun) throw BadFile(path, header_problem(reader.message));
    // Before libpng sets up its row buffers, which it does for whatever width the file declares.
    const std::int64_t width = png_get_image_width(reader.png, reader.info);
    const std::int64_t height = png_get_image_height(reader.png, reader.info);
    const bool deep = png_get_bit_depth(reader.png, reader.info) == 16;
    const bool grey = (png_get_color_type(reader.png, reader.info) & PNG_COLOR_MASK_COLOR) == 0;
    check_image_size(source, width, height, channels(reader), scanline_bytes(reader), kDeflate);
    if (!choose_output(reader)) throw BadFile(path, header_problem(reader.message));
    Image image = reserve_image(path, width, height, png_get_channels(reader.png, reader.info));
    const bool interlaced = png_get_interlace_type(reader.png, reader.info) != PNG_INTERLACE_NONE;
    const bool whole = interlaced ? read_interlaced(reader, image) : read_rows(reader, image);
    source.rethrow();
    if (!whole)
        throw BadFile(path,
                      std::string("is cut off or damaged: ") + reader.message.text + "; get the whole file again");
    image.grey_alpha = grey && image.channels == 4;
    add_chunks(reader, reader.info, image.metadata);
    add_chunks(reader, reader.end, image.metadata);
    if (deep) image.metadata.notes.emplace_back(kRoundedNote);
    return image;
}

}  // namespace espalier::bench::io
