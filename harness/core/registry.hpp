#pragma once

#include <string_view>

#include "harness/core/variant.hpp"

namespace espalier {

/// A variant as the generated registry of its family lists it.
template <class P>
struct Registered {
    Variant<P> variant;
    DeviceKind kind;             ///< from the file's ending: .cpp runs on the CPU, .cu on a GPU
    bool gpu_only;               ///< in gpu_only/ or sm_90a/: the host executor cannot run it
    int min_sm;                  ///< 90 for sm_90a/, else 0
    std::string_view path;       ///< source file, relative to the repository
    std::string_view source_id;  ///< SHA-256 of the source without comments and white space
};

}  // namespace espalier
