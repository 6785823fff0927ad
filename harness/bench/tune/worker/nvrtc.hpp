#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace espalier::bench::tune {

/// What NVRTC is to compile.
struct NvrtcJob {
    std::filesystem::path source;
    std::string kernel;                ///< as source names it, with its template arguments
    std::vector<std::string> options;  ///< of the compiler
    std::filesystem::path output;      ///< machine code; the kernel's name in it goes to the same with ".name"
};

/// Compiles in this process. Returns what the compiler says where it fails; empty if it does not.
std::string compile_with_nvrtc(const NvrtcJob& job);

/// Why NVRTC cannot be loaded here, with the fix; empty if it can.
std::string nvrtc_refusal();

}  // namespace espalier::bench::tune
