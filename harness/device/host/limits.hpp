#pragma once

#include <cstddef>

/// Limits of an H200 that both its description and the checks of launches use.
namespace espalier::device::host {

inline constexpr std::size_t kStaticShared = 48 * 1024;  ///< bytes per block without opting in
inline constexpr std::size_t kShared = 227 * 1024;       ///< bytes per block with
inline constexpr std::size_t kParameterBytes = 32764;    ///< arguments of one kernel
inline constexpr unsigned kThreadsPerBlock = 1024;
inline constexpr unsigned kBlockDepth = 64;  ///< blockDim.z
inline constexpr unsigned kGridWidth = 2147483647;
inline constexpr unsigned kGridHeight = 65535;  ///< gridDim.y and gridDim.z

}  // namespace espalier::device::host
