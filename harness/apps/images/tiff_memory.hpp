#pragma once

#include <tiffio.h>

#include <cstdint>
#include <memory>
#include <string>

namespace espalier::bench::io {

/// A TIFF file in memory, as libtiff reads and writes it: of a file that is read, `data` and `size`; of one that is
/// written, `written`.
struct TiffMemory {
    const std::uint8_t* data = nullptr;
    std::uint64_t size = 0;
    std::string written{};
    std::uint64_t at = 0;
    std::string problem{};  ///< libtiff's last error
};

struct CloseTiff {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using Tiff = std::unique_ptr<TIFF, CloseTiff>;

/// Opens `memory`, which must outlive it: mode "r", "w", or "w8" for more than 4 GiB. Null, with the problem in
/// `memory`, if that is no TIFF file.
Tiff open_tiff(TiffMemory& memory, const char* mode);

}  // namespace espalier::bench::io
