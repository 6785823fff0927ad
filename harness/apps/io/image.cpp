#include "harness/apps/io/image.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <new>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/codecs.hpp"
#include "harness/apps/io/file.hpp"
#include "harness/apps/io/memory.hpp"

namespace espalier::bench::io {
namespace {

enum class Format { jpeg, png, unknown };

/// The standard output has no name; what goes there is lossless.
Format format_of_ending(const std::string& path) {
    if (path == kStandardStream) return Format::png;
    std::string ending = std::filesystem::path(path).extension().string();
    std::transform(ending.begin(), ending.end(), ending.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (ending == ".png") return Format::png;
    if (ending == ".jpg" || ending == ".jpeg") return Format::jpeg;
    return Format::unknown;
}

Format format_of_content(std::FILE* file, const std::string& path) {
    // One byte, which can be put back: a pipe cannot be rewound. The decoders look at the rest.
    const int first = std::getc(file);
    if (std::ferror(file)) throw BadFile(path, "cannot be read");
    if (first == EOF) throw BadFile(path, "is empty; it should hold a JPEG or PNG image");
    std::ungetc(first, file);
    if (first == 0xFF) return Format::jpeg;
    return first == 0x89 ? Format::png : Format::unknown;
}

}  // namespace

void check_image_size(const ImageSource& source, std::int64_t width, std::int64_t height, int channels,
                      std::uint64_t stored, std::uint64_t most_per_byte) {
    const std::string shape = std::to_string(width) + " x " + std::to_string(height);
    if (width <= 0 || height <= 0) throw BadFile(source.path, "has no pixels (" + shape + ")");
    // Divisions, because the product of what a file declares can overflow.
    const auto rows = source.max_bytes / static_cast<std::size_t>(channels) / static_cast<std::size_t>(width);
    if (static_cast<std::size_t>(height) > rows)
        throw BadFile(source.path, "declares " + shape + " pixels, more than the limit of " +
                                       std::to_string(source.max_bytes >> 20) +
                                       " MiB; raise it with --max-image, scale the image down or cut it up");
    if (stored / most_per_byte > source.file_bytes)
        throw BadFile(source.path, "declares " + shape + " pixels, more than " + std::to_string(source.file_bytes) +
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
    const File file = open_for_reading(path);
    const Format format = format_of_content(file.get(), path);
    struct stat status {};
    if (fstat(fileno(file.get()), &status) != 0) throw BadFile(path, "cannot be read");
    const ImageSource source{file.get(), path, static_cast<std::uint64_t>(status.st_size), max_bytes};
    switch (format) {
        case Format::jpeg: return read_jpeg(source);
        case Format::png: return read_png(source);
        case Format::unknown: break;
    }
    throw BadFile(path, "is neither a JPEG nor a PNG image; convert it to one of them");
}

void check_image_ending(const std::string& path) {
    if (format_of_ending(path) == Format::unknown)
        throw BadFile(path, "unknown image ending; use .png (lossless), .jpg or .jpeg");
}

void write_image(const std::string& path, const Image& image) {
    check_image_ending(path);
    if (image.width <= 0 || image.height <= 0) throw BadFile(path, "an image without pixels cannot be written");
    AtomicFile file(path);
    const std::string shown = path == kStandardStream ? "standard output" : path;
    if (format_of_ending(path) == Format::png)
        write_png(file.stream(), shown, image);
    else
        write_jpeg(file.stream(), shown, image);
    file.commit();
}

}  // namespace espalier::bench::io
