#pragma once

#include <cstddef>
#include <cstdint>

/// Limits of an H200 that both its description and the checks of launches use.
namespace espalier::device::host {

inline constexpr std::size_t kStaticShared = 48 * 1024;  ///< bytes per block without opting in
inline constexpr std::size_t kShared = 227 * 1024;       ///< bytes per block with
inline constexpr std::size_t kParameterBytes = 32764;    ///< arguments of one kernel
inline constexpr unsigned kThreadsPerBlock = 1024;
inline constexpr unsigned kBlockDepth = 64;  ///< blockDim.z
inline constexpr unsigned kGridWidth = 2147483647;
inline constexpr unsigned kGridHeight = 65535;  ///< gridDim.y and gridDim.z

inline constexpr std::int64_t kTexture1DElements = std::int64_t{1} << 28;
inline constexpr std::int64_t kTexture2DWidth = 131072;
inline constexpr std::int64_t kTexture2DHeight = 65000;
inline constexpr std::int64_t kTexture2DPitch = 2097120;
inline constexpr int kTexturePitchAlignment = 32;
inline constexpr std::size_t kTextureAlignment = 512;  ///< of a texture's first element

}  // namespace espalier::device::host
