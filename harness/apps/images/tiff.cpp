// TIFF files of 1 to 16 bits a channel, grey, RGB or of a palette, in strips or tiles, read through libtiff. Its
// interface to ready-made RGBA would multiply colours by alpha and turn the image upright.

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "harness/apps/images/codecs.hpp"
#include "harness/apps/images/image_metadata.hpp"
#include "harness/apps/images/tiff_memory.hpp"
#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {
namespace {

struct TiffHeader {
    std::uint32_t width = 0, height = 0;
    std::uint16_t bits = 1, samples = 1, photometric = 0, planar = PLANARCONFIG_CONTIG, compression = COMPRESSION_NONE;
    std::uint16_t format = SAMPLEFORMAT_UINT, orientation = kUpright;
    std::uint16_t extra_samples = 0;
    std::uint16_t alpha = EXTRASAMPLE_UNSPECIFIED;  ///< what the extra one means
    std::uint32_t subfile = 0;

    [[nodiscard]] bool grey() const {
        return photometric == PHOTOMETRIC_MINISBLACK || photometric == PHOTOMETRIC_MINISWHITE;
    }
    [[nodiscard]] bool palette() const { return photometric == PHOTOMETRIC_PALETTE; }
    [[nodiscard]] bool has_alpha() const { return samples == (grey() ? 2 : 4); }
    /// Of the image as it is delivered.
    [[nodiscard]] int channels() const { return has_alpha() ? 4 : grey() ? 1 : 3; }
    [[nodiscard]] bool separate() const { return planar == PLANARCONFIG_SEPARATE && samples > 1; }
};

template <class T>
void get(TIFF* tiff, std::uint32_t tag, T& value) {
    TIFFGetFieldDefaulted(tiff, tag, &value);
}

TiffHeader header_of(TIFF* tiff) {
    TiffHeader header;
    get(tiff, TIFFTAG_IMAGEWIDTH, header.width);
    get(tiff, TIFFTAG_IMAGELENGTH, header.height);
    get(tiff, TIFFTAG_BITSPERSAMPLE, header.bits);
    get(tiff, TIFFTAG_SAMPLESPERPIXEL, header.samples);
    get(tiff, TIFFTAG_PLANARCONFIG, header.planar);
    get(tiff, TIFFTAG_COMPRESSION, header.compression);
    get(tiff, TIFFTAG_SAMPLEFORMAT, header.format);
    get(tiff, TIFFTAG_ORIENTATION, header.orientation);
    get(tiff, TIFFTAG_SUBFILETYPE, header.subfile);
    if (!TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &header.photometric))
        header.photometric = header.samples < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB;
    std::uint16_t count = 0;
    std::uint16_t* kinds = nullptr;
    TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
    header.extra_samples = count;
    if (count > 0 && kinds) header.alpha = kinds[0];
    return header;
}

/// What is not read, and the usual names of it; empty if the image is read.
std::string unread_kind(const TiffHeader& header) {
    switch (header.photometric) {
        case PHOTOMETRIC_MINISWHITE:
        case PHOTOMETRIC_MINISBLACK:
        case PHOTOMETRIC_RGB:
        case PHOTOMETRIC_PALETTE: break;
        case PHOTOMETRIC_YCBCR:
            if (header.compression == COMPRESSION_JPEG && header.planar == PLANARCONFIG_CONTIG) break;
            return "a TIFF of YCbCr without JPEG";
        case PHOTOMETRIC_SEPARATED: return "a CMYK TIFF";
        case PHOTOMETRIC_CIELAB:
        case PHOTOMETRIC_ICCLAB: return "a TIFF of L*a*b* colours";
        case PHOTOMETRIC_CFA: return "a camera's raw file";
        default: return "a TIFF of colours of kind " + std::to_string(header.photometric);
    }
    if (header.subfile & FILETYPE_REDUCEDIMAGE) return "a TIFF that begins with a thumbnail, as cameras' raw files do";
    switch (header.compression) {
        case COMPRESSION_NONE:
        case COMPRESSION_LZW:
        case COMPRESSION_PACKBITS:
        case COMPRESSION_DEFLATE:
        case COMPRESSION_ADOBE_DEFLATE:
        case COMPRESSION_JPEG: break;
        case COMPRESSION_OJPEG: return "a TIFF of old-style JPEG, as cameras' raw files are";
        default: return "a TIFF compressed by method " + std::to_string(header.compression);
    }
    const bool few_bits = header.bits == 1 || header.bits == 2 || header.bits == 4;
    const bool bits = header.bits == 8 || (header.bits == 16 && !header.palette()) ||
                      (few_bits && header.samples == 1 && (header.grey() || header.palette()));
    if (header.format != SAMPLEFORMAT_UINT || !bits)
        return "a TIFF of " + std::to_string(header.bits) +
               (header.format == SAMPLEFORMAT_IEEEFP ? "-bit floating-point"
                : header.format == SAMPLEFORMAT_INT  ? "-bit signed"
                                                     : "-bit") +
               " values";
    if (header.samples != (header.grey() || header.palette() ? 1 : 3) && (header.palette() || !header.has_alpha()))
        return "a TIFF of " + std::to_string(header.samples) + " channels";
    return "";
}

/// Refuses a file of several images, thumbnails and masks aside.
void expect_one_page(TIFF* tiff, const std::string& path) {
    constexpr int kMostDirectories = 1000;
    for (int i = 0; i < kMostDirectories && TIFFReadDirectory(tiff); ++i) {
        std::uint32_t subfile = 0;
        get(tiff, TIFFTAG_SUBFILETYPE, subfile);
        if (!(subfile & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)))
            throw BadFile(path,
                          "has more than one page; take one out, for instance with ImageMagick: convert "
                          "'in.tif[0]' page.tif");
    }
    TIFFSetDirectory(tiff, 0);
}

/// The strips or tiles that an image is stored in, each decoded whole.
struct Blocks {
    bool tiled = false;
    std::uint32_t width = 0, height = 0;  ///< pixels of one
    std::uint64_t row_bytes = 0;
    std::uint32_t count = 0;
};

Blocks blocks_of(TIFF* tiff, const TiffHeader& header) {
    Blocks blocks;
    blocks.tiled = TIFFIsTiled(tiff) != 0;
    if (blocks.tiled) {
        get(tiff, TIFFTAG_TILEWIDTH, blocks.width);
        get(tiff, TIFFTAG_TILELENGTH, blocks.height);
        blocks.count = TIFFNumberOfTiles(tiff);
    } else {
        blocks.width = header.width;
        get(tiff, TIFFTAG_ROWSPERSTRIP, blocks.height);
        blocks.height = std::min(blocks.height, header.height);
        blocks.count = TIFFNumberOfStrips(tiff);
    }
    const std::uint64_t samples = header.separate() ? 1 : header.samples;
    blocks.row_bytes = (std::uint64_t{blocks.width} * samples * header.bits + 7) / 8;
    return blocks;
}

/// How many bytes a byte may stand for: LZW's codes of 12 bits stand for strings of at most 4,096 bytes.
std::uint64_t most_per_byte(std::uint16_t compression) { return compression == COMPRESSION_NONE ? 1 : 3000; }

class TiffReader {
public:
    TiffReader(TIFF* tiff, const TiffHeader& header, const Blocks& blocks, Image& image)
        : tiff_(tiff), header_(header), blocks_(blocks), image_(image) {}

    /// False if the data is damaged.
    bool read();

private:
    void set_scale();
    void store(std::uint32_t x, std::uint32_t y, int plane, std::uint32_t rows);
    void store_value(std::uint8_t* pixel, int sample, std::uint32_t value) const;
    [[nodiscard]] std::uint32_t value_at(const std::uint8_t* row, std::uint64_t index) const;

    TIFF* tiff_;
    const TiffHeader& header_;
    const Blocks& blocks_;
    Image& image_;
    std::vector<std::uint8_t> block_;
    std::vector<std::uint8_t> scale_;  ///< what a value of 8 bits or fewer means, of grey
    std::vector<std::array<std::uint8_t, 3>> palette_;
};

void TiffReader::set_scale() {
    if (header_.bits > 8) return;
    const std::uint32_t most = (1U << header_.bits) - 1;
    for (std::uint32_t value = 0; value <= most; ++value)
        scale_.push_back(static_cast<std::uint8_t>((value * 255 + most / 2) / most));
    if (!header_.palette()) return;
    const std::uint16_t* maps[3] = {};
    if (!TIFFGetField(tiff_, TIFFTAG_COLORMAP, &maps[0], &maps[1], &maps[2])) return;
    // Maps have 16 bits. Some writers store a value of 8 bits there as it is, others 256 times it instead of 257 times.
    const auto all = [&](auto&& condition) {
        return std::ranges::all_of(maps, [&](const auto* map) { return std::all_of(map, map + most + 1, condition); });
    };
    const bool as_it_is = all([](std::uint16_t value) { return value < 256; });
    const bool shifted = all([](std::uint16_t value) { return value % 256 == 0; });
    for (std::uint32_t value = 0; value <= most; ++value) {
        auto& colour = palette_.emplace_back();
        for (std::size_t c = 0; c < 3; ++c)
            colour[c] = as_it_is  ? static_cast<std::uint8_t>(maps[c][value])
                        : shifted ? static_cast<std::uint8_t>(maps[c][value] / 256)
                                  : eight_bits(maps[c][value]);
    }
}

std::uint32_t TiffReader::value_at(const std::uint8_t* row, std::uint64_t index) const {
    if (header_.bits == 8) return row[index];
    if (header_.bits == 16) {
        std::uint16_t value = 0;  // in this machine's order of bytes
        std::memcpy(&value, row + 2 * index, 2);
        return value;
    }
    const std::uint64_t bit = index * header_.bits;
    return static_cast<std::uint32_t>(row[bit / 8] >> (8 - header_.bits - bit % 8)) & ((1U << header_.bits) - 1);
}

void TiffReader::store_value(std::uint8_t* pixel, int sample, std::uint32_t value) const {
    if (header_.palette()) {
        std::copy(palette_[value].begin(), palette_[value].end(), pixel);
        return;
    }
    auto stored = header_.bits == 16 ? eight_bits(value) : scale_[value];
    const bool colour = sample < (header_.grey() ? 1 : 3);
    if (colour && header_.photometric == PHOTOMETRIC_MINISWHITE) stored = static_cast<std::uint8_t>(255 - stored);
    if (!colour)
        pixel[3] = stored;
    else if (header_.grey() && image_.channels == 4)
        std::fill(pixel, pixel + 3, stored);
    else
        pixel[sample] = stored;
}

/// The part of a block that lies in the image.
void TiffReader::store(std::uint32_t x, std::uint32_t y, int plane, std::uint32_t rows) {
    const std::uint32_t columns = std::min(blocks_.width, header_.width - x);
    const int samples = header_.separate() ? 1 : header_.samples;
    for (std::uint32_t j = 0; j < rows; ++j) {
        const std::uint8_t* row = block_.data() + j * blocks_.row_bytes;
        std::uint8_t* pixel = image_.pixels.data() + (y + j) * image_.row_bytes() +
                              std::size_t{x} * static_cast<std::size_t>(image_.channels);
        for (std::uint32_t i = 0; i < columns; ++i, pixel += image_.channels)
            for (int s = 0; s < samples; ++s)
                store_value(pixel, header_.separate() ? plane : s,
                            value_at(row, std::uint64_t{i} * static_cast<std::uint64_t>(samples) +
                                              static_cast<std::uint64_t>(s)));
    }
}

bool TiffReader::read() {
    set_scale();
    if (header_.palette() && palette_.empty()) return false;
    const int planes = header_.separate() ? header_.samples : 1;
    block_.resize(blocks_.row_bytes * blocks_.height);
    for (int plane = 0; plane < planes; ++plane)
        for (std::uint32_t y = 0; y < header_.height; y += blocks_.height)
            for (std::uint32_t x = 0; x < header_.width; x += blocks_.width) {
                const std::uint32_t rows = std::min(blocks_.height, header_.height - y);
                const std::uint32_t stored_rows = blocks_.tiled ? blocks_.height : rows;
                const auto wanted = static_cast<tmsize_t>(blocks_.row_bytes * stored_rows);
                const auto sample = static_cast<std::uint16_t>(plane);
                const tmsize_t got =
                    blocks_.tiled
                        ? TIFFReadEncodedTile(tiff_, TIFFComputeTile(tiff_, x, y, 0, sample), block_.data(), wanted)
                        : TIFFReadEncodedStrip(tiff_, TIFFComputeStrip(tiff_, y, sample), block_.data(), wanted);
                if (got < wanted) return false;
                store(x, y, plane, rows);
            }
    return true;
}

/// Colours that were multiplied by alpha, as they were before, to nearest.
void divide_by_alpha(Image& image) {
    for (std::size_t i = 0; i < image.pixels.size(); i += 4) {
        const int alpha = image.pixels[i + 3];
        for (std::size_t c = i; c < i + 3; ++c)
            image.pixels[c] =
                static_cast<std::uint8_t>(alpha == 0 ? 0 : std::min(255, (image.pixels[c] * 255 + alpha / 2) / alpha));
    }
}

void read_metadata(TIFF* tiff, const TiffHeader& header, ImageMetadata& metadata) {
    if (header.orientation > kUpright && header.orientation <= 8)
        metadata.exif = exif_of_orientation(header.orientation);
    std::uint32_t size = 0;
    void* profile = nullptr;
    if (TIFFGetField(tiff, TIFFTAG_ICCPROFILE, &size, &profile) && profile)
        metadata.icc.assign(static_cast<const char*>(profile), size);
    float x = 0, y = 0;
    std::uint16_t unit = RESUNIT_INCH;
    get(tiff, TIFFTAG_RESOLUTIONUNIT, unit);
    if (TIFFGetField(tiff, TIFFTAG_XRESOLUTION, &x) && TIFFGetField(tiff, TIFFTAG_YRESOLUTION, &y))
        metadata.resolution = {x, y,
                               unit == RESUNIT_INCH         ? Resolution::Unit::inch
                               : unit == RESUNIT_CENTIMETER ? Resolution::Unit::centimetre
                                                            : Resolution::Unit::none};
    toff_t exif = 0;
    if (TIFFGetField(tiff, TIFFTAG_EXIFIFD, &exif))
        metadata.notes.emplace_back("of its EXIF data the orientation alone is kept");
    if (header.bits == 16) metadata.notes.emplace_back(kRoundedNote);
    if (header.has_alpha() && header.alpha != EXTRASAMPLE_ASSOCALPHA && header.alpha != EXTRASAMPLE_UNASSALPHA)
        metadata.notes.emplace_back("its last channel does not say what it is and is taken for transparency");
}

/// Refuses an image whose blocks are larger than it by far: each may be decoded from the same few bytes.
void check_blocks(const std::string& path, const TiffHeader& header, const Blocks& blocks, std::uint64_t stored) {
    constexpr std::uint64_t kMore = 64 << 20;
    const std::uint64_t most = 4 * stored + kMore;
    const bool possible = blocks.width > 0 && blocks.height > 0 && blocks.row_bytes <= most / blocks.height &&
                          blocks.row_bytes * blocks.height <= most / std::max(1U, blocks.count);
    if (!possible)
        throw BadFile(path, "is damaged: its " + std::string(blocks.tiled ? "tiles" : "strips") + " of " +
                                std::to_string(blocks.width) + " x " + std::to_string(blocks.height) +
                                " pixels do not suit its " + std::to_string(header.width) + " x " +
                                std::to_string(header.height) + "; get the whole file again");
}

}  // namespace

Image read_tiff(ImageSource& source) {
    constexpr std::uint64_t kMoreThanPixels = 64 << 20;  // of tags: profiles, thumbnails
    const std::string& path = source.path();
    const auto content = source.read_rest(std::min(source.max_bytes(), std::size_t{1} << 40) + kMoreThanPixels);
    TiffMemory memory{.data = content.data(), .size = content.size()};
    const Tiff tiff = open_tiff(memory, "rm");
    if (!tiff) throw BadFile(path, "is no valid TIFF image: " + memory.problem + "; get the whole file again");
    TiffHeader header = header_of(tiff.get());
    if (const std::string kind = unread_kind(header); !kind.empty())
        throw BadFile(path, "is " + kind +
                                ", which is not read; convert it to 8 bits a channel of grey or RGB, for "
                                "instance with ImageMagick: convert in.tif -colorspace sRGB -depth 8 out.png");
    expect_one_page(tiff.get(), path);
    if (header.photometric == PHOTOMETRIC_YCBCR) {
        TIFFSetField(tiff.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        header.photometric = PHOTOMETRIC_RGB;
    }
    // Twice, because the product overflows where the image is larger than what may be read at all.
    check_image_size(source, header.width, header.height, header.channels(), 0, 1);
    const std::uint64_t row = (std::uint64_t{header.width} * header.samples * header.bits + 7) / 8;
    const std::uint64_t stored = row * header.height;
    check_image_size(source, header.width, header.height, header.channels(), stored, most_per_byte(header.compression));
    const Blocks blocks = blocks_of(tiff.get(), header);
    check_blocks(path, header, blocks, stored);
    Image image = allocate_image(path, header.width, header.height, header.channels());
    if (!TiffReader(tiff.get(), header, blocks, image).read())
        throw BadFile(path, "is cut off or damaged: " + memory.problem + "; get the whole file again");
    image.grey_alpha = header.grey() && image.channels == 4;
    if (image.channels == 4 && header.alpha == EXTRASAMPLE_ASSOCALPHA) divide_by_alpha(image);
    read_metadata(tiff.get(), header, image.metadata);
    return image;
}

}  // namespace espalier::bench::io
