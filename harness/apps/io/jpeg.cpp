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
constexpr int kMaxDimension = 65500;  // JPEG_MAX_DIMENSION: markers have 16 bits

struct ErrorState {
    jpeg_error_mgr manager;  // first: the library passes a pointer to it
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

bool decode(jpeg_decompress_struct& info, ErrorState& state, std::uint8_t* pixels, std::size_t row_bytes) {
    if (setjmp(state.back)) return false;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
        JSAMPROW row = pixels + static_cast<std::size_t>(info.output_scanline) * row_bytes;
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

Image read_jpeg(std::FILE* file, const std::string& path) {
    Owner<jpeg_decompress_struct, jpeg_destroy_decompress> owner;
    ErrorState state{};
    install(state, owner.info.err);
    if (!start(owner.info, state, file))
        throw BadFile(path, std::string("is no valid JPEG image: ") + state.message + "; get the whole file again");
    const int channels = owner.info.output_components;
    if (channels != 1 && channels != 3)
        throw BadFile(path, "is a CMYK JPEG (" + std::to_string(channels) + " channels); convert it to RGB");
    Image image = allocate_image(path, owner.info.output_width, owner.info.output_height, channels);
    if (!decode(owner.info, state, image.pixels.data(), image.row_bytes()))
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
