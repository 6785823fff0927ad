// PGM and PPM (netpbm's portable grey and colour maps), plain and raw: https://netpbm.sourceforge.net/doc/pgm.html

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "harness/apps/images/codecs.hpp"
#include "harness/apps/images/image_metadata.hpp"
#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::uint32_t kMostValue = 65535;

/// So few of a file's bytes are read ahead that a small file cannot stand for a large image; its rows are counted as
/// they come.
constexpr std::uint64_t kPnmMostPerByte = 1000;

class PnmReader {
public:
    explicit PnmReader(ImageSource& source) : source_(source) {}

    Image read();

private:
    [[noreturn]] void fail(const std::string& problem) const {
        source_.rethrow();
        throw BadFile(source_.path(), problem + "; get the whole file again");
    }
    int next();
    std::uint32_t number(std::uint32_t most, const char* what);
    void raw_values(std::uint8_t* to, std::size_t values);
    void plain_values(std::uint8_t* to, std::size_t values);
    [[nodiscard]] std::uint8_t scaled(std::uint32_t value) const;
    void expect_end();

    ImageSource& source_;
    std::uint32_t most_ = 0;  ///< the value that means white
    std::vector<std::uint8_t> raw_;
};

/// The next character, comments passed over; -1 at the end.
int PnmReader::next() {
    char c = 0;
    if (source_.read(&c, 1) == 0) return -1;
    if (c != '#') return static_cast<unsigned char>(c);
    do {
        if (source_.read(&c, 1) == 0) return -1;
    } while (c != '\n' && c != '\r');
    return '\n';
}

/// A number and the one character that ends it.
std::uint32_t PnmReader::number(std::uint32_t most, const char* what) {
    int c = next();
    while (c >= 0 && std::isspace(c)) c = next();
    if (c < 0) fail(std::string("is cut off: it ends before its ") + what);
    std::uint64_t value = 0;
    for (; c >= 0 && std::isdigit(c); c = next()) {
        value = value * 10 + static_cast<std::uint64_t>(c - '0');
        if (value > most) fail(std::string("is damaged: its ") + what + " is more than " + std::to_string(most));
    }
    if (c >= 0 && !std::isspace(c)) fail(std::string("is damaged: its ") + what + " is no whole number");
    return static_cast<std::uint32_t>(value);
}

std::uint8_t PnmReader::scaled(std::uint32_t value) const {
    if (value > most_)
        fail("is damaged: a value is " + std::to_string(value) + ", more than its largest, " + std::to_string(most_));
    return static_cast<std::uint8_t>((value * 255 + most_ / 2) / most_);
}

void PnmReader::raw_values(std::uint8_t* to, std::size_t values) {
    const std::size_t bytes = most_ > 255 ? 2 : 1;
    raw_.resize(values * bytes);
    if (source_.read(raw_.data(), raw_.size()) < raw_.size()) fail("is cut off or damaged: it ends within its pixels");
    for (std::size_t i = 0; i < values; ++i)
        to[i] = scaled(bytes == 1 ? raw_[i] : static_cast<std::uint32_t>(raw_[2 * i] << 8 | raw_[2 * i + 1]));
}

void PnmReader::plain_values(std::uint8_t* to, std::size_t values) {
    for (std::size_t i = 0; i < values; ++i) to[i] = scaled(number(kMostValue, "next value"));
}

/// Files may hold several images one after the other; only white space may follow the one that is read.
void PnmReader::expect_end() {
    std::uint8_t c = 0;
    while (source_.read(&c, 1) == 1)
        if (!std::isspace(c))
            throw BadFile(source_.path(), "goes on after its pixels: it is damaged or holds several images; split it");
    source_.rethrow();
}

Image PnmReader::read() {
    char magic[2];
    source_.read(magic, 2);
    const bool plain = magic[1] == '2' || magic[1] == '3';
    const int channels = magic[1] == '2' || magic[1] == '5' ? 1 : 3;
    constexpr std::uint32_t kMostPixels = 0x7FFFFFFF;
    const std::int64_t width = number(kMostPixels, "width"), height = number(kMostPixels, "height");
    most_ = number(kMostValue, "largest value");
    if (most_ == 0) fail("is damaged: its largest value is 0");
    const std::uint64_t values = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);  // below 2^62
    check_image_size(source_, width, height, channels, values, kPnmMostPerByte);
    Image image = reserve_image(source_.path(), width, height, channels);
    // In pieces, because a row may be the whole image, and the file end early.
    constexpr std::size_t kPiece = 1 << 20;
    const std::size_t all = image.row_bytes() * static_cast<std::size_t>(height);
    for (std::size_t at = 0; at < all;) {
        const std::size_t count = std::min(kPiece, all - at);
        image.pixels.resize(at + count);
        plain ? plain_values(image.pixels.data() + at, count) : raw_values(image.pixels.data() + at, count);
        at += count;
    }
    expect_end();
    if (most_ > 255) image.metadata.notes.emplace_back(kRoundedNote);
    return image;
}

}  // namespace

Image read_pnm(ImageSource& source) { return PnmReader(source).read(); }

Losses write_pnm(std::FILE* file, const std::string& path, const Image& image, bool grey) {
    if (image.channels == 4) throw BadFile(path, "PGM and PPM have no alpha channel; write a .png or .tif instead");
    if (grey && image.channels != 1) throw BadFile(path, "PGM has no colours; write a .ppm instead");
    const bool colours = !grey;
    std::fprintf(file, "P%d\n%lld %lld\n255\n", colours ? 6 : 5, static_cast<long long>(image.width),
                 static_cast<long long>(image.height));
    const bool spread = colours && image.channels == 1;  // a grey image as a .ppm
    std::vector<std::uint8_t> row(spread ? 3 * image.row_bytes() : 0);
    for (std::int64_t y = 0; y < image.height && !std::ferror(file); ++y) {
        const std::uint8_t* values = image.pixels.data() + static_cast<std::size_t>(y) * image.row_bytes();
        for (std::size_t i = 0; i < row.size(); ++i) row[i] = values[i / 3];
        std::fwrite(spread ? row.data() : values, 1, spread ? row.size() : image.row_bytes(), file);
    }
    if (std::ferror(file)) throw BadFile(path, std::string("writing failed: ") + std::strerror(errno));
    Losses losses;
    const ImageMetadata& metadata = image.metadata;
    if (orientation_of(metadata.exif) != kUpright || !metadata.icc.empty())
        losses.emplace_back(
            "PGM and PPM hold no orientation, colour profile or resolution; write a .png or .tif to keep them");
    return losses;
}

}  // namespace espalier::bench::io
