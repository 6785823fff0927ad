#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/convolution_2d.hpp"

namespace espalier::bench::io {

/// A filter of 5 or 7 a side, row by row; one of 3 is in the middle of 5, which computes the same to the last bit.
struct SquareFilter {
    int side = 5;  ///< of the coefficients
    std::vector<float> coefficients;

    /// Exactly the coefficients, for a filter of that side.
    [[nodiscard]] Filter5x5 as_5x5() const;
    [[nodiscard]] Filter7x7 as_7x7() const;
};

/// Names that `filter` knows: laplace, gauss, sharpen, box.
std::vector<std::string_view> filter_names();

/// A filter by name, or from a text file of three rows of three numbers, five of five or seven of seven, separated by
/// blanks, commas or semicolons, in rows of their own; `#` starts a comment that runs to the end of its line. Throws
/// BadFile, also for numbers of no such shape.
///   laplace  -1 everywhere, 24 in the middle: edges
///   gauss    the binomial (1 4 6 4 1) in both directions, divided by 256: smooths
///   sharpen  twice the image less `gauss` (unsharp mask)
///   box      the mean of the 25 pixels
SquareFilter square_filter(const std::string& name_or_path);

/// The same of 3 or 5 a side; throws BadFile for 7.
Filter5x5 filter(const std::string& name_or_path);

}  // namespace espalier::bench::io
