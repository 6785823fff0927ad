#pragma once

#include <png.h>

#include <cstdio>

namespace espalier::bench::io {

/// libpng's message of the last error; fixed storage because it is written just before longjmp.
struct PngMessage {
    char text[200] = "";
    char warning[200] = "";
};

[[noreturn]] inline void on_png_error(png_structp png, png_const_charp text) {
    auto* message = static_cast<PngMessage*>(png_get_error_ptr(png));
    std::snprintf(message->text, sizeof message->text, "%s", text);
    png_longjmp(png, 1);
}

/// Ignores warnings: those of ancillary chunks change no pixel, those of the header say what its error does not.
inline void on_png_warning(png_structp png, png_const_charp text) {
    auto* message = static_cast<PngMessage*>(png_get_error_ptr(png));
    std::snprintf(message->warning, sizeof message->warning, "%s", text);
}

}  // namespace espalier::bench::io
