#include "harness/apps/images/tiff_memory.hpp"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

namespace espalier::bench::io {
namespace {

TiffMemory& memory_of(thandle_t handle) { return *static_cast<TiffMemory*>(handle); }

tmsize_t read_tiff_bytes(thandle_t handle, void* to, tmsize_t count) {
    TiffMemory& memory = memory_of(handle);
    const std::uint64_t left = memory.at < memory.size ? memory.size - memory.at : 0;
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, static_cast<std::uint64_t>(count)));
    if (part > 0) std::memcpy(to, memory.data + memory.at, part);
    memory.at += part;
    return static_cast<tmsize_t>(part);
}

tmsize_t write_tiff_bytes(thandle_t handle, void* from, tmsize_t count) {
    TiffMemory& memory = memory_of(handle);
    const auto end = memory.at + static_cast<std::uint64_t>(count);
    try {
        if (memory.written.size() < end) memory.written.resize(end);
    } catch (const std::bad_alloc&) {
        return -1;
    }
    std::memcpy(memory.written.data() + memory.at, from, static_cast<std::size_t>(count));
    memory.at = end;
    return count;
}

toff_t seek_tiff(thandle_t handle, toff_t offset, int whence) {
    TiffMemory& memory = memory_of(handle);
    const std::uint64_t end = memory.data ? memory.size : memory.written.size();
    memory.at = offset + (whence == SEEK_CUR ? memory.at : whence == SEEK_END ? end : 0);
    return memory.at;
}

toff_t size_of_tiff(thandle_t handle) {
    const TiffMemory& memory = memory_of(handle);
    return memory.data ? memory.size : memory.written.size();
}

int on_tiff_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
    char text[300];
    std::vsnprintf(text, sizeof text, format, arguments);
    static_cast<TiffMemory*>(user)->problem = text;
    return 1;
}

/// Warnings are of tags that are unknown or odd: no pixel depends on them.
int on_tiff_warning(TIFF*, void*, const char*, const char*, va_list) { return 1; }

}  // namespace

Tiff open_tiff(TiffMemory& memory, const char* mode) {
    const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                   TIFFOpenOptionsFree);
    if (!options) return nullptr;
    TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_tiff_error, &memory);
    TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_tiff_warning, &memory);
    // Tags and strips are read whole, and none is larger than its file; lists of offsets take a little more.
    constexpr tmsize_t kMore = 16 << 20;
    if (memory.data) TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(memory.size) + kMore);
    return Tiff(TIFFClientOpenExt(
        "", mode, &memory, read_tiff_bytes, write_tiff_bytes, seek_tiff, [](thandle_t) { return 0; }, size_of_tiff,
        [](thandle_t, void**, toff_t*) { return 0; }, [](thandle_t, void*, toff_t) {}, options.get()));
}

}  // namespace espalier::bench::io
