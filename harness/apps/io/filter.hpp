#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/convolution_2d.hpp"

namespace espalier::bench::io {

/// Names that `filter` knows: laplace, gauss, sharpen, box.
std::vector<std::string_view> filter_names();

/// A filter by name, or from a text file of 25 numbers in row-major order, separated by white space, commas
/// or semicolons; `#` starts a comment that runs to the end of its line. Throws BadFile.
///   laplace  -1 everywhere, 24 in the middle: edges
///   gauss    the binomial (1 4 6 4 1) in both directions, divided by 256: smooths
///   sharpen  twice the image less `gauss` (unsharp mask)
///   box      the mean of the 25 pixels
Filter5x5 filter(const std::string& name_or_path);

}  // namespace espalier::bench::io
