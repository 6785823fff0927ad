#pragma once

#include <csetjmp>
#include <cstddef>
#include <cstdio>

// jpeglib.h needs <cstdio>'s FILE and size_t before it.
#include <jerror.h>
#include <jpeglib.h>

namespace espalier::bench::io {

/// Where libjpeg's errors lead. The library reports them by calling back and expects not to be returned to, so every
/// use sits in one function around setjmp that owns no object with a destructor; longjmp would skip it.
struct JpegErrors {
    jpeg_error_mgr manager;  // first: the library passes a pointer to it
    jpeg_progress_mgr progress;
    std::jmp_buf back;
    char message[JMSG_LENGTH_MAX];
};

[[noreturn]] inline void on_jpeg_error(j_common_ptr info) {
    auto* errors = reinterpret_cast<JpegErrors*>(info->err);
    errors->manager.format_message(info, errors->message);
    std::longjmp(errors->back, 1);
}

/// libjpeg only warns when data ends early or is damaged, and fills the rest with grey. Here such an image
/// is refused. Stray bytes between markers, profiles that are damaged and odd metadata harm no pixel.
inline void on_jpeg_message(j_common_ptr info, int level) {
    if (level >= 0) return;
    const int code = info->err->msg_code;
    if (code == JWRN_EXTRANEOUS_DATA || code == JWRN_ADOBE_XFORM || code == JWRN_JFIF_MAJOR || code == JWRN_BOGUS_ICC)
        return;
    on_jpeg_error(info);
}

inline void install(JpegErrors& errors, jpeg_error_mgr*& slot) {
    slot = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = on_jpeg_error;
    errors.manager.emit_message = on_jpeg_message;
    errors.message[0] = '\0';
}

/// Frees the library's memory however the function is left.
template <class Info, void (*destroy)(Info*)>
struct JpegOwner {
    Info info{};
    JpegOwner() = default;
    ~JpegOwner() { destroy(&info); }
    JpegOwner(const JpegOwner&) = delete;
    JpegOwner& operator=(const JpegOwner&) = delete;
};

}  // namespace espalier::bench::io
