// JPEG files, read through libjpeg.

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "harness/apps/images/codecs.hpp"
#include "harness/apps/images/image_metadata.hpp"
#include "harness/apps/images/jpeg_errors.hpp"
#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {
namespace {

constexpr int kMaxScans = 100;  // progressive encoders write about ten; each passes over the whole image

/// Huffman codes have a bit at least: an 8x8 block of a component a bit, and of three components at most 18 blocks for
/// 32 x 32 pixels of 3 bytes, which are 1365 bytes a byte.
constexpr std::uint64_t kMostPerByte = 2000;

constexpr std::string_view kExifHead("Exif\0\0", 6);

/// How libjpeg asks for the file's bytes.
struct JpegInput {
    jpeg_source_mgr manager;  // first: the library passes a pointer to it
    ImageSource* source;
    JOCTET buffer[64 << 10];
};

boolean fill_jpeg_input(j_decompress_ptr info) {
    auto* input = reinterpret_cast<JpegInput*>(info->src);
    std::size_t got = input->source->read(input->buffer, sizeof input->buffer);
    if (got == 0) {  // which the library warns of, and reads an end of image
        WARNMS(info, JWRN_JPEG_EOF);
        input->buffer[0] = 0xFF;
        input->buffer[1] = JPEG_EOI;
        got = 2;
    }
    input->manager.next_input_byte = input->buffer;
    input->manager.bytes_in_buffer = got;
    return TRUE;
}

void skip_jpeg_input(j_decompress_ptr info, long count) {
    jpeg_source_mgr& manager = *info->src;
    while (count > static_cast<long>(manager.bytes_in_buffer)) {
        count -= static_cast<long>(manager.bytes_in_buffer);
        fill_jpeg_input(info);
    }
    if (count <= 0) return;
    manager.next_input_byte += count;
    manager.bytes_in_buffer -= static_cast<std::size_t>(count);
}

void set_input(JpegInput& input, ImageSource& source) {
    input.source = &source;
    input.manager = {nullptr,
                     0,
                     [](j_decompress_ptr) {},
                     fill_jpeg_input,
                     skip_jpeg_input,
                     jpeg_resync_to_restart,
                     [](j_decompress_ptr) {}};
}

/// Called now and then while the library decodes.
void on_progress(j_common_ptr info) {
    if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMaxScans) return;
    auto* errors = reinterpret_cast<JpegErrors*>(info->err);
    std::snprintf(errors->message, sizeof errors->message, "more than %d scans", kMaxScans);
    std::longjmp(errors->back, 1);
}

/// Reads the header and chooses the output's colours. False with a message in `errors` on failure.
bool start(jpeg_decompress_struct& info, JpegErrors& errors, JpegInput& input) {
    if (setjmp(errors.back)) return false;
    jpeg_create_decompress(&info);
    info.src = &input.manager;
    jpeg_save_markers(&info, JPEG_APP0 + 1, 0xFFFF);  // EXIF
    jpeg_save_markers(&info, JPEG_APP0 + 2, 0xFFFF);  // the profile
    jpeg_read_header(&info, TRUE);
    if (info.num_components == 3) info.out_color_space = JCS_RGB;
    jpeg_calc_output_dimensions(&info);
    return true;
}

/// False with a null profile if the parts of the profile do not fit together.
bool read_profile(jpeg_decompress_struct& info, JpegErrors& errors, JOCTET*& data, unsigned& size) {
    if (setjmp(errors.back)) return false;
    return jpeg_read_icc_profile(&info, &data, &size) == TRUE;
}

/// How the image was compressed, of grey and YCbCr; before the library forgets it.
void note_coding(const jpeg_decompress_struct& info, ImageMetadata& metadata) {
    const bool grey = info.jpeg_color_space == JCS_GRAYSCALE && info.num_components == 1;
    if (!grey && info.jpeg_color_space != JCS_YCbCr) return;
    JpegCoding coding;
    for (int c = 0; c < info.num_components; ++c) {
        const jpeg_component_info& component = info.comp_info[c];
        const auto slot = static_cast<std::size_t>(c);
        if (!component.quant_table || component.quant_tbl_no < 0 || component.quant_tbl_no >= 4) return;
        auto& table = coding.tables[static_cast<std::size_t>(component.quant_tbl_no)].emplace();
        std::copy(std::begin(component.quant_table->quantval), std::end(component.quant_table->quantval),
                  table.begin());
        coding.table_of[slot] = component.quant_tbl_no;
        coding.sampling[slot] = {component.h_samp_factor, component.v_samp_factor};
    }
    coding.progressive = info.progressive_mode == TRUE;
    metadata.jpeg = coding;
}

bool decode(jpeg_decompress_struct& info, JpegErrors& errors, Image& image) {
    if (setjmp(errors.back)) return false;
    errors.progress.progress_monitor = on_progress;
    info.progress = &errors.progress;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = add_row(image);
        jpeg_read_scanlines(&info, &row, 1);
    }
    note_coding(info, image.metadata);
    jpeg_finish_decompress(&info);
    return true;
}

/// What the numbers of frame headers stand for (ITU-T T.81, table B.1; T.87), of those that libjpeg does not read.
std::string process_name(int marker) {
    switch (marker) {
        case 0xC3: return "a lossless JPEG";
        case 0xC5:
        case 0xC6: return "a hierarchical JPEG";
        case 0xC7: return "a lossless hierarchical JPEG";
        case 0xCB: return "a lossless arithmetic-coded JPEG";
        case 0xCD:
        case 0xCE: return "a hierarchical arithmetic-coded JPEG";
        case 0xCF: return "a lossless hierarchical arithmetic-coded JPEG";
        case 0xF7: return "a lossless JPEG-LS";
        default: return "";
    }
}

constexpr const char* kConvert = "; convert it to a baseline JPEG, or to PNG";
constexpr const char* kRecode =
    "; code it anew, without loss: jpegtran -optimize in.jpg > out.jpg, or convert it to PNG";

/// Throws if the file is of a kind that is not read, rather than damaged.
void name_unread_kinds(const std::string& path, const jpeg_decompress_struct& info, const JpegErrors& errors) {
    const int code = errors.manager.msg_code, value = errors.manager.msg_parm.i[0];
    std::string kind;
    if (code == JERR_SOF_UNSUPPORTED || code == JERR_UNKNOWN_MARKER) kind = process_name(value);
    if (code == JERR_BAD_PRECISION) kind = "a JPEG of " + std::to_string(value) + " bits a channel, not 8";
    if (!kind.empty()) throw BadFile(path, "is " + kind + ", which is not read" + kConvert);
    if (code == JERR_ARITH_NOTIMPL)
        throw BadFile(path, std::string("is an arithmetic-coded JPEG, which this libjpeg does not read") + kRecode);
    if (info.arith_code)
        throw BadFile(path, std::string("is an arithmetic-coded JPEG that cannot be decoded: ") + errors.message +
                                "; get the whole file again" + kRecode);
}

/// Arithmetic codes take far less than a bit for what is expected: a byte may stand for any number of equal blocks, and
/// only up to this size are images read that are small for their pixels.
void check_arithmetic_size(ImageSource& source, std::int64_t width, std::int64_t height, int channels,
                           std::uint64_t bytes) {
    constexpr std::uint64_t kFreely = 64 << 20;
    check_image_size(source, width, height, channels, 0, 1);
    if (bytes <= kFreely || source.holds(bytes / kMostPerByte)) return;
    throw BadFile(source.path(), "is an arithmetic-coded JPEG of " + std::to_string(width) + " x " +
                                     std::to_string(height) + " pixels in " + std::to_string(source.known_bytes()) +
                                     " bytes, more than is read from so few" + kRecode);
}

/// Of the first EXIF marker, and of all parts of the profile.
void read_metadata(jpeg_decompress_struct& info, JpegErrors& errors, ImageMetadata& metadata) {
    bool has_profile = false;
    for (auto* marker = info.marker_list; marker; marker = marker->next) {
        const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
        if (marker->marker == JPEG_APP0 + 1 && metadata.exif.empty() && data.starts_with(kExifHead))
            metadata.exif = data.substr(kExifHead.size());
        has_profile |= marker->marker == JPEG_APP0 + 2 && data.starts_with("ICC_PROFILE");
    }
    if (has_profile) {
        JOCTET* profile = nullptr;
        unsigned size = 0;
        const bool whole = read_profile(info, errors, profile, size);
        const std::unique_ptr<JOCTET, decltype(&std::free)> owned(profile, std::free);
        if (whole)
            metadata.icc.assign(reinterpret_cast<const char*>(profile), size);
        else
            metadata.notes.emplace_back("its colour profile is damaged and is left out");
    }
    if (info.saw_JFIF_marker)
        metadata.resolution = {static_cast<double>(info.X_density), static_cast<double>(info.Y_density),
                               info.density_unit == 1   ? Resolution::Unit::inch
                               : info.density_unit == 2 ? Resolution::Unit::centimetre
                                                        : Resolution::Unit::none};
}

}  // namespace

Image read_jpeg(ImageSource& source) {
    const std::string& path = source.path();
    JpegOwner<jpeg_decompress_struct, jpeg_destroy_decompress> owner;
    jpeg_decompress_struct& info = owner.info;
    JpegErrors errors{};
    install(errors, info.err);
    const auto input = std::make_unique<JpegInput>();
    set_input(*input, source);
    const bool started = start(info, errors, *input);
    source.rethrow();
    if (!started) {
        name_unread_kinds(path, info, errors);
        throw BadFile(path, std::string("is no valid JPEG image: ") + errors.message + "; get the whole file again");
    }
    const int channels = info.output_components;
    if (channels != 1 && channels != 3)
        throw BadFile(path, "is a CMYK JPEG (" + std::to_string(channels) + " channels); convert it to RGB");
    const std::int64_t width = info.output_width, height = info.output_height;
    const auto bytes = static_cast<std::uint64_t>(width * height * channels);  // markers have 16 bits
    if (info.arith_code)
        check_arithmetic_size(source, width, height, channels, bytes);
    else
        check_image_size(source, width, height, channels, bytes, kMostPerByte);
    Image image = reserve_image(path, width, height, channels);
    read_metadata(info, errors, image.metadata);
    const bool whole = decode(info, errors, image);
    source.rethrow();
    if (!whole) {
        name_unread_kinds(path, info, errors);
        throw BadFile(path, std::string("is cut off or damaged: ") + errors.message + "; get the whole file again");
    }
    return image;
}

}  // namespace espalier::bench::io
