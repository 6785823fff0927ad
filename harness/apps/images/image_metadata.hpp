#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/apps/images/image.hpp"

/// What the formats say in different ways.
namespace espalier::bench::io {

inline constexpr int kUpright = 1;

/// How a viewer is to turn the image, 1 (not at all) to 8, as EXIF and TIFF number it; 1 if the data says nothing
/// valid about it.
int orientation_of(std::string_view exif);

/// EXIF data that holds the orientation alone.
std::string exif_of_orientation(int orientation);

/// The resolution in another unit; of `none` as it is.
Resolution in_unit(const Resolution& resolution, Resolution::Unit unit);

/// Whether both numbers are positive and finite.
bool is_known(const Resolution& resolution);

/// Larger profiles are left out, as a few bytes of a PNG could stand for any.
inline constexpr std::size_t kMostProfileBytes = 16 << 20;

}  // namespace espalier::bench::io
