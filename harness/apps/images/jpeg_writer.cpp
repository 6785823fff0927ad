// JPEG files, written through libjpeg.

#include <algorithm>
#include <cmath>
#include <string>

#include "harness/apps/images/codecs.hpp"
#include "harness/apps/images/image_metadata.hpp"
#include "harness/apps/images/jpeg_errors.hpp"
#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {
namespace {

constexpr int kQuality = 95;          // beyond it files grow much and nothing is seen
constexpr int kMaxDimension = 65500;  // JPEG_MAX_DIMENSION: markers have 16 bits
constexpr std::size_t kMostInMarker = 65533;
constexpr std::size_t kMostProfileMarkers = 255, kProfilePart = kMostInMarker - 14;
constexpr std::string_view kJpegExifHead("Exif\0\0", 6);

/// Whether libjpeg can store components of these factors: each divides the largest, and a unit holds ten blocks.
bool is_storable(const JpegCoding& coding) {
    int across = 1, down = 1, blocks = 0;
    for (const auto& [h, v] : coding.sampling) {
        across = std::max(across, h);
        down = std::max(down, v);
        blocks += h * v;
    }
    return blocks <= C_MAX_BLOCKS_IN_MCU && std::ranges::all_of(coding.sampling, [&](const auto& factors) {
               return factors.first > 0 && factors.second > 0 && across % factors.first == 0 &&
                      down % factors.second == 0;
           });
}

void set_density(jpeg_compress_struct& info, const Resolution& resolution) {
    if (!is_known(resolution)) return;
    const bool centimetres = resolution.unit == Resolution::Unit::centimetre;
    Resolution stored = centimetres ? resolution : in_unit(resolution, Resolution::Unit::inch);
    const bool shape = stored.unit == Resolution::Unit::none;
    constexpr double kMost = 65535;
    if (const double largest = std::max(stored.x, stored.y); shape && largest > kMost) {
        stored.x *= kMost / largest;
        stored.y *= kMost / largest;
    }
    const auto number = [kMost](double value) {
        return static_cast<UINT16>(std::clamp(std::round(value), 1.0, kMost));
    };
    info.density_unit = static_cast<UINT8>(shape ? 0 : centimetres ? 2 : 1);
    info.X_density = number(stored.x);
    info.Y_density = number(stored.y);
}

/// As the input was compressed, as far as the options do not say otherwise.
void set_coding(jpeg_compress_struct& info, const JpegCoding* input, const JpegOptions& options) {
    jpeg_set_quality(&info, options.quality.value_or(kQuality), TRUE);
    if (input && !options.quality) {
        for (int slot = 0; slot < NUM_QUANT_TBLS; ++slot) {
            const auto& table = input->tables[static_cast<std::size_t>(slot)];
            unsigned steps[64];
            if (!table) continue;
            std::copy(table->begin(), table->end(), steps);
            jpeg_add_quant_table(&info, slot, steps, 100, FALSE);
        }
        for (int c = 0; c < info.num_components; ++c)
            info.comp_info[c].quant_tbl_no = input->table_of[static_cast<std::size_t>(c)];
    }
    if (options.subsampling && info.num_components == 3) {
        info.comp_info[0].h_samp_factor = *options.subsampling == Subsampling::s444 ? 1 : 2;
        info.comp_info[0].v_samp_factor = *options.subsampling == Subsampling::s420 ? 2 : 1;
    } else if (input && info.num_components == 3) {
        for (int c = 0; c < 3; ++c) {
            info.comp_info[c].h_samp_factor = input->sampling[static_cast<std::size_t>(c)].first;
            info.comp_info[c].v_samp_factor = input->sampling[static_cast<std::size_t>(c)].second;
        }
    }
    if (input && input->progressive) jpeg_simple_progression(&info);
}

/// What the image brings along, as a JPEG holds it.
struct Markers {
    std::string exif;  ///< with its head; empty if there is none
    const std::string* icc = nullptr;
    const JpegCoding* coding = nullptr;
};

Markers markers_of(const Image& image, Losses& losses) {
    const ImageMetadata& metadata = image.metadata;
    Markers markers;
    if (!metadata.exif.empty()) {
        const bool fits = metadata.exif.size() + kJpegExifHead.size() <= kMostInMarker;
        if (!fits) losses.emplace_back("its EXIF data is too long for a JPEG: the orientation alone is kept");
        markers.exif = kJpegExifHead;
        markers.exif += fits ? metadata.exif : exif_of_orientation(orientation_of(metadata.exif));
    }
    if (!metadata.icc.empty() && metadata.icc.size() <= kMostProfileMarkers * kProfilePart)
        markers.icc = &metadata.icc;
    else if (!metadata.icc.empty())
        losses.emplace_back("its colour profile is too long for a JPEG and is left out");
    const bool same_channels = metadata.jpeg && (metadata.jpeg->sampling[1].first > 0) == (image.channels == 3);
    if (same_channels && (image.channels == 1 || is_storable(*metadata.jpeg))) markers.coding = &*metadata.jpeg;
    return markers;
}

bool encode(jpeg_compress_struct& info, JpegErrors& errors, std::FILE* file, const Image& image, const Markers& markers,
            const JpegOptions& options) {
    if (setjmp(errors.back)) return false;
    jpeg_create_compress(&info);
    jpeg_stdio_dest(&info, file);
    info.image_width = static_cast<JDIMENSION>(image.width);
    info.image_height = static_cast<JDIMENSION>(image.height);
    info.input_components = image.channels;
    info.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    set_coding(info, markers.coding, options);
    set_density(info, image.metadata.resolution);
    jpeg_start_compress(&info, TRUE);
    if (!markers.exif.empty())
        jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(markers.exif.data()),
                          static_cast<unsigned>(markers.exif.size()));
    if (markers.icc)
        jpeg_write_icc_profile(&info, reinterpret_cast<const JOCTET*>(markers.icc->data()),
                               static_cast<unsigned>(markers.icc->size()));
    while (info.next_scanline < info.image_height) {
        auto* row = const_cast<JSAMPLE*>(image.pixels.data() + info.next_scanline * image.row_bytes());
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    return true;
}

}  // namespace

Losses write_jpeg(std::FILE* file, const std::string& path, const Image& image, const JpegOptions& options) {
    if (image.channels != 1 && image.channels != 3)
        throw BadFile(path, "JPEG has no alpha channel; write a .png instead");
    if (image.width > kMaxDimension || image.height > kMaxDimension)
        throw BadFile(path, "JPEG ends at 65,500 pixels a side; write a .png instead");
    JpegOwner<jpeg_compress_struct, jpeg_destroy_compress> owner;
    JpegErrors errors{};
    install(errors, owner.info.err);
    Losses losses;
    const Markers markers = markers_of(image, losses);
    if (!encode(owner.info, errors, file, image, markers, options))
        throw BadFile(path, std::string("cannot be written: ") + errors.message);
    return losses;
}

}  // namespace espalier::bench::io
