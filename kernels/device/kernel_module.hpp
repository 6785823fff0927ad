#pragma once

#include <fstream>
#include <string>

namespace espalier::device {

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Tue ..." -> "580.159.04"; empty where there is none.
/// The kernel module's own version: CUDA reports only the API level that the driver supports. Starts no CUDA.
inline std::string kernel_module_version() {
    std::ifstream file("/proc/driver/nvidia/version");
    for (std::string word; file >> word;) {
        const auto dot = word.find('.');
        if (dot != std::string::npos && dot > 0 && word.find_first_not_of("0123456789.") == std::string::npos)
            return word;
    }
    return {};
}

}  // namespace espalier::device
