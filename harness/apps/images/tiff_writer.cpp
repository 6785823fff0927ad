// TIFF files of 8 bits a channel, compressed without loss by LZW, which every reader knows, written through libtiff.

#include <string>

#include "harness/apps/images/codecs.hpp"
#include "harness/apps/images/image_metadata.hpp"
#include "harness/apps/images/tiff_memory.hpp"
#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::int64_t kMostTiffSide = 0xFFFFFFFF;
constexpr std::size_t kMostOfClassic = std::size_t{7} << 29;  // 3.5 GiB: offsets have 32 bits, and LZW may add some

void set_tags(TIFF* tiff, const Image& image) {
    const bool grey = image.channels == 1 || (image.channels == 4 && image.grey_alpha);
    const int samples = image.channels == 4 && image.grey_alpha ? 2 : image.channels;
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(image.width));
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(image.height));
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, samples);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, grey ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_LZW);
    TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, TIFFDefaultStripSize(tiff, 0));
    const std::uint16_t alpha = EXTRASAMPLE_UNASSALPHA;
    if (image.channels == 4) TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &alpha);

    const ImageMetadata& metadata = image.metadata;
    TIFFSetField(tiff, TIFFTAG_ORIENTATION, orientation_of(metadata.exif));
    if (!metadata.icc.empty())
        TIFFSetField(tiff, TIFFTAG_ICCPROFILE, static_cast<std::uint32_t>(metadata.icc.size()), metadata.icc.data());
    if (!is_known(metadata.resolution)) return;
    const bool centimetres = metadata.resolution.unit == Resolution::Unit::centimetre;
    const Resolution stored = centimetres ? metadata.resolution : in_unit(metadata.resolution, Resolution::Unit::inch);
    TIFFSetField(tiff, TIFFTAG_XRESOLUTION, stored.x);
    TIFFSetField(tiff, TIFFTAG_YRESOLUTION, stored.y);
    TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT,
                 centimetres                             ? RESUNIT_CENTIMETER
                 : stored.unit == Resolution::Unit::none ? RESUNIT_NONE
                                                         : RESUNIT_INCH);
}

bool write_rows(TIFF* tiff, const Image& image) {
    std::vector<std::uint8_t> row;
    for (std::int64_t y = 0; y < image.height; ++y) {
        const std::uint8_t* values = image.pixels.data() + static_cast<std::size_t>(y) * image.row_bytes();
        row.clear();  // LZW's predictor changes the row
        for (std::size_t i = 0; i < image.row_bytes(); ++i)
            if (!(image.channels == 4 && image.grey_alpha) || i % 4 == 0 || i % 4 == 3) row.push_back(values[i]);
        if (TIFFWriteScanline(tiff, row.data(), static_cast<std::uint32_t>(y), 0) < 0) return false;
    }
    return true;
}

}  // namespace

std::string encode_tiff(const std::string& path, const Image& image, Losses& losses) {
    if (image.width > kMostTiffSide || image.height > kMostTiffSide)
        throw BadFile(path, "TIFF ends at 4,294,967,295 pixels a side; cut the image up");
    TiffMemory memory;
    Tiff tiff = open_tiff(memory, image.pixels.size() > kMostOfClassic ? "w8" : "w");
    if (!tiff) throw BadFile(path, "cannot be written: " + memory.problem);
    set_tags(tiff.get(), image);
    const bool good = write_rows(tiff.get(), image) && TIFFFlush(tiff.get()) == 1;
    tiff.reset();
    if (!good || !memory.problem.empty()) throw BadFile(path, "cannot be written: " + memory.problem);
    // The orientation has a tag of its own; a structure of nothing else is what reading another TIFF made.
    const std::string& exif = image.metadata.exif;
    if (!exif.empty() && exif != exif_of_orientation(orientation_of(exif)))
        losses.emplace_back("of its EXIF data a TIFF keeps the orientation alone");
    return std::move(memory.written);
}

}  // namespace espalier::bench::io
