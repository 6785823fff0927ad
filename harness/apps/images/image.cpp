#include "harness/apps/images/image.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <new>
#include <string_view>

#include "harness/apps/images/codecs.hpp"
#include "harness/apps/images/image_metadata.hpp"
#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/apps/io/memory.hpp"

namespace espalier::bench::io {
namespace {

using namespace std::string_view_literals;

enum class Format { jpeg, png, tiff, pnm, pgm, ppm, unknown };

struct Ending {
    std::string_view ending;
    Format format;
};
constexpr std::array<Ending, 8> kEndings{{{".png", Format::png},
                                          {".jpg", Format::jpeg},
                                          {".jpeg", Format::jpeg},
                                          {".tif", Format::tiff},
                                          {".tiff", Format::tiff},
                                          {".pgm", Format::pgm},
                                          {".ppm", Format::ppm},
                                          {".pnm", Format::pnm}}};

/// The standard output has no name; what goes there is lossless.
Format format_of_ending(const std::string& path) {
    if (path == kStandardStream) return Format::png;
    std::string ending = std::filesystem::path(path).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto* found = std::ranges::find(kEndings, ending, &Ending::ending);
    return found == kEndings.end() ? Format::unknown : found->format;
}

/// Where a file's first bytes say what it is.
struct Signature {
    std::size_t at;
    std::string_view bytes;
};
constexpr std::size_t kSignatureBytes = 16;

bool has(std::string_view content, const Signature& signature) {
    return content.size() > signature.at && content.substr(signature.at, signature.bytes.size()) == signature.bytes;
}

struct Known {
    Signature signature;
    Format format;
};
constexpr std::array<Known, 6> kRead{{{{0, "\xFF\xD8"sv}, Format::jpeg},
                                      {{0, "\x89PNG"sv}, Format::png},
                                      {{0, "II*\0"sv}, Format::tiff},
                                      {{0, "MM\0*"sv}, Format::tiff},
                                      {{0, "II+\0"sv}, Format::tiff},
                                      {{0, "MM\0+"sv}, Format::tiff}}};

struct Unread {
    Signature signature;
    std::string_view name;
};
constexpr std::array<Unread, 16> kUnread{{{{0, "GIF8"sv}, "GIF"},
                                          {{0, "BM"sv}, "BMP"},
                                          {{8, "WEBP"sv}, "WebP"},
                                          {{4, "ftyphei"sv}, "HEIC"},
                                          {{4, "ftypmif1"sv}, "HEIC"},
                                          {{4, "ftypavi"sv}, "AVIF"},
                                          {{0, "\xFF\x4F\xFF\x51"sv}, "JPEG 2000"},
                                          {{4, "jP  "sv}, "JPEG 2000"},
                                          {{0, "\xFF\x0A"sv}, "JPEG XL"},
                                          {{4, "JXL "sv}, "JPEG XL"},
                                          {{0, "P1"sv}, "PBM (one bit a pixel)"},
                                          {{0, "P4"sv}, "PBM (one bit a pixel)"},
                                          {{0, "P7"sv}, "PAM"},
                                          {{0, "Pf"sv}, "PFM (floating-point)"},
                                          {{0, "PF"sv}, "PFM (floating-point)"},
                                          {{0, "8BPS"sv}, "Photoshop"}}};

/// Text may begin with "P5", too.
bool is_pnm(std::string_view content) {
    return content.size() > 2 && content[0] == 'P' && "2356"sv.find(content[1]) != std::string_view::npos &&
           " \t\r\n#"sv.find(content[2]) != std::string_view::npos;
}

Format format_of_content(ImageSource& source) {
    const std::string_view content = source.peek(kSignatureBytes);
    const std::string formats(kImageFormats);
    if (content.empty()) throw BadFile(source.path(), "is empty; it should hold a " + formats + " image");
    if (is_pnm(content)) return Format::pnm;
    for (const Known& known : kRead)
        if (has(content, known.signature)) return known.format;
    // What begins as an image and ends at once is one that is cut off: its reader says so.
    for (const Known& known : kRead)
        if (content.size() < known.signature.bytes.size() && known.signature.bytes.starts_with(content))
            return known.format;
    for (const Unread& unread : kUnread)
        if (has(content, unread.signature))
            throw BadFile(source.path(), "is a " + std::string(unread.name) + " image; convert it to " + formats);
    throw BadFile(source.path(), "is neither a JPEG nor a PNG, TIFF, PGM or PPM image; convert it to one of them");
}

}  // namespace

void check_image_size(ImageSource& source, std::int64_t width, std::int64_t height, int channels, std::uint64_t stored,
                      std::uint64_t most_per_byte) {
    const std::string shape = std::to_string(width) + " x " + std::to_string(height);
    if (width <= 0 || height <= 0) throw BadFile(source.path(), "has no pixels (" + shape + ")");
    // Divisions, because the product of what a file declares can overflow.
    const auto rows = source.max_bytes() / static_cast<std::size_t>(channels) / static_cast<std::size_t>(width);
    if (static_cast<std::size_t>(height) > rows)
        throw BadFile(source.path(), "declares " + shape + " pixels, more than the limit of " +
                                         std::to_string(source.max_bytes() >> 20) +
                                         " MiB; raise it with --max-image, scale the image down or cut it up");
    if (!source.holds(stored / most_per_byte))
        throw BadFile(source.path(), "declares " + shape + " pixels, more than " +
                                         std::to_string(source.known_bytes()) +
                                         " bytes can hold: it is cut off or damaged; get the whole file again");
}

void check_memory(const std::string& path, std::size_t bytes, std::size_t available) {
    if (bytes <= available) return;
    throw BadFile(path, "needs " + std::to_string(bytes >> 20) + " MiB of memory, and " +
                            std::to_string(available >> 20) +
                            " MiB are free; scale it down, cut it up, or use a machine with more");
}

Image reserve_image(const std::string& path, std::int64_t width, std::int64_t height, int channels) {
    Image image{width, height, channels, {}};
    const std::size_t bytes = image.row_bytes() * static_cast<std::size_t>(height);
    // Asked beforehand: Linux promises more than it has, and ends a process that takes it at its word.
    check_memory(path, bytes, available_memory());
    try {
        image.pixels.reserve(bytes);
    } catch (const std::bad_alloc&) {  // the process has a limit of its own, as by ulimit -v
        throw BadFile(path, "needs " + std::to_string(bytes >> 20) +
                                " MiB of memory, more than this process may have; scale it down, cut it up, or "
                                "raise the limit");
    }
    return image;
}

std::uint8_t* add_row(Image& image) {
    image.pixels.resize(image.pixels.size() + image.row_bytes());
    return image.pixels.data() + image.pixels.size() - image.row_bytes();
}

Image allocate_image(const std::string& path, std::int64_t width, std::int64_t height, int channels) {
    if (width <= 0 || height <= 0) throw BadFile(path, "has no pixels");
    Image image = reserve_image(path, width, height, channels);
    image.pixels.resize(image.row_bytes() * static_cast<std::size_t>(height));
    return image;
}

Image read_image(const std::string& path, std::size_t max_bytes) {
    ImageSource source(path, max_bytes);
    switch (format_of_content(source)) {
        case Format::jpeg: return read_jpeg(source);
        case Format::png: return read_png(source);
        case Format::tiff: return read_tiff(source);
        default: return read_pnm(source);
    }
}

void check_image_ending(const std::string& path) {
    if (format_of_ending(path) == Format::unknown)
        throw BadFile(path, "unknown image ending; use .png or .tif (lossless), .jpg, .pgm or .ppm");
}

bool ends_as_jpeg(const std::string& path) { return format_of_ending(path) == Format::jpeg; }

namespace {

/// TIFF is made in memory and then written like the others.
Losses write_tiff(AtomicFile& file, const std::string& path, const Image& image) {
    Losses losses;
    file.write(encode_tiff(path, image, losses));
    return losses;
}

}  // namespace

Losses write_image(const std::string& path, const Image& image, const JpegOptions& options) {
    check_image_ending(path);
    if (image.width <= 0 || image.height <= 0) throw BadFile(path, "an image without pixels cannot be written");
    const Format format = format_of_ending(path);
    AtomicFile file(path);
    const std::string shown = path == kStandardStream ? "standard output" : path;
    Losses losses;
    switch (format) {
        case Format::png: losses = write_png(file.stream(), shown, image); break;
        case Format::jpeg: losses = write_jpeg(file.stream(), shown, image, options); break;
        case Format::tiff: losses = write_tiff(file, shown, image); break;
        case Format::pgm: losses = write_pnm(file.stream(), shown, image, true); break;
        case Format::ppm: losses = write_pnm(file.stream(), shown, image, false); break;
        default: losses = write_pnm(file.stream(), shown, image, image.channels == 1); break;
    }
    file.commit();
    return losses;
}

}  // namespace espalier::bench::io
