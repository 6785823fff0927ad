// JPEG through libjpeg. The library reports errors by calling back and expects not to be returned to, so
// every use sits in one function around setjmp that owns no object with a destructor; longjmp would skip it.

#include <csetjmp>
#include <cstddef>
#include <cstdio>

// jpeglib.h needs <cstdio>'s FILE and size_t before it.
#include <jerror.h>
#include <jpeglib.h>

#include <string>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/codecs.hpp"

namespace espalier::bench::io {
namespace {

constexpr int kQuality = 95;          // beyond it files grow much and nothing is seen
constexpr int kMaxScans = 100;        // progressive encoders write about ten; each passes over the whole image
constexpr int kMaxDimension = 65500;  // JPEG_MAX_DIMENSION: markers have 16 bits

/// Huffman codes have a bit at least: an 8x8 block of a component a bit, and of three components at most 18 blocks for
/// 32 x 32 pixels of 3 bytes, which are 1365 bytes a byte.
constexpr std::uint64_t kMostPerByte = 2000;

struct ErrorState {
    jpeg_error_mgr manager;  // first: the library passes a pointer to it
    jpeg_progress_mgr progress;
    std::jmp_buf back;
    char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void on_error(j_common_ptr info) {
    auto* state = reinterpret_cast<ErrorState*>(info->err);
    state->manager.format_message(info, state->message);
    std::longjmp(state->back, 1);
}

/// libjpeg only warns when data ends early or is damaged, and fills the rest with grey. Here such an image
/// is refused. Stray bytes between markers and odd metadata harm no pixel.
void on_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    const int code = info->err->msg_code;
    if (code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR) return;
    on_error(info);
}

/// Called now and then while the library decodes.
void on_progress(j_common_ptr info) {
    if (reinterpret_cast<j_decompress_ptr>(info)->input_scan_number <= kMaxScans) return;
    auto* state = reinterpret_cast<ErrorState*>(info->err);
    std::snprintf(state->message, sizeof state->message, "more than %d scans", kMaxScans);
    std::longjmp(state->back, 1);
}

void install(ErrorState& state, jpeg_error_mgr*& slot) {
    slot = jpeg_std_error(&state.manager);
    state.manager.error_exit = on_error;
    state.manager.emit_message = on_message;
    state.message[0] = '\0';
}

/// Reads the header and chooses the output's colours. False with a message in `state` on failure.
bool start(jpeg_decompress_struct& info, ErrorState& state, std::FILE* file) {
    if (setjmp(state.back)) return false;
    jpeg_create_decompress(&info);
    jpeg_stdio_src(&info, file);
    jpeg_read_header(&info, TRUE);
    if (info.num_components == 3) info.out_color_space = JCS_RGB;
    jpeg_calc_output_dimensions(&info);
    return true;
}

bool decode(jpeg_decompress_struct& info, ErrorState& state, Image& image) {
    if (setjmp(state.back)) return false;
    state.progress.progress_monitor = on_progress;
    info.progress = &state.progress;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = add_row(image);
        jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    return true;
}

bool encode(jpeg_compress_struct& info, ErrorState& state, std::FILE* file, const Image& image) {
    if (setjmp(state.back)) return false;
    jpeg_create_compress(&info);
    jpeg_stdio_dest(&info, file);
    info.image_width = static_cast<JDIMENSION>(image.width);
    info.image_height = static_cast<JDIMENSION>(image.height);
    info.input_components = image.channels;
    info.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_set_quality(&info, kQuality, TRUE);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        auto* row = const_cast<JSAMPLE*>(image.pixels.data() + info.next_scanline * image.row_bytes());
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    return true;
}

/// Frees the library's memory however the function is left.
template <class Info, void (*destroy)(Info*)>
struct Owner {
    Info info{};
    Owner() = default;
    ~Owner() { destroy(&info); }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
};

}  // namespace

Image read_jpeg(const ImageSource& source) {
    const std::string& path = source.path;
    Owner<jpeg_decompress_struct, jpeg_destroy_decompress> owner;
    ErrorState state{};
    install(state, owner.info.err);
    if (!start(owner.info, state, source.file))
        throw BadFile(path, std::string("is no valid JPEG image: ") + state.message + "; get the whole file again");
    const int channels = owner.info.output_components;
    if (channels != 1 && channels != 3)
        throw BadFile(path, "is a CMYK JPEG (" + std::to_string(channels) + " channels); convert it to RGB");
    const std::int64_t width = owner.info.output_width, height = owner.info.output_height;
    const auto bytes = static_cast<std::uint64_t>(width * height * channels);  // markers have 16 bits
    check_image_size(source, width, height, channels, bytes, kMostPerByte);
    Image image = reserve_image(path, width, height, channels);
    if (!decode(owner.info, state, image))
        throw BadFile(path, std::string("is cut off or damaged: ") + state.message + "; get the whole file again");
    return image;
}

void write_jpeg(std::FILE* file, const std::string& path, const Image& image) {
    if (image.channels != 1 && image.channels != 3)
        throw BadFile(path, "JPEG has no alpha channel; write a .png instead");
    if (image.width > kMaxDimension || image.height > kMaxDimension)
        throw BadFile(path, "JPEG ends at 65,500 pixels a side; write a .png instead");
    Owner<jpeg_compress_struct, jpeg_destroy_compress> owner;
    ErrorState state{};
    install(state, owner.info.err);
    if (!encode(owner.info, state, file, image))
        throw BadFile(path, std::string("cannot be written: ") + state.message);
}

}  // namespace espalier::bench::io
