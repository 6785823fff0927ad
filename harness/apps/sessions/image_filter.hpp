#pragma once

#include <cstdint>
#include <string>

#include "espalier/convolution_2d.hpp"
#include "harness/apps/images/filter.hpp"
#include "harness/apps/images/image.hpp"

namespace espalier::bench::apps {

/// How a filter is applied to an image.
struct ImageFilter {
    io::SquareFilter filter;
    Border border = Border::mirror;
    int offset = 0;              ///< 0 to 255, added to each rounded sum before it is saturated
    bool weigh_by_alpha = true;  ///< else transparent pixels count as others do
    std::string variant;         ///< instead of the selector's choice; of 5x5 alone
};

struct FilterRun {
    Explanation explanation;
    double milliseconds = 0;
    std::uint64_t weighed_pixels = 0;  ///< that transparency is near to
};

/// Replaces the image's colours by the filtered ones; alpha stays as it is, and what the image is said to be of. `path`
/// is for messages.
FilterRun apply_filter(const Device& device, const std::string& path, io::Image& image, const ImageFilter& how);

/// Computes anew the colours of those pixels of `result` that the filter makes of pixels which are not all opaque, as
/// if their transparent part were of the visible part's mean colour: the mean of the pixels under the filter, weighted
/// by alpha and the sizes of the coefficients. For coefficients that are not negative that is the filter of colours
/// that are multiplied by alpha, divided by the filter of alpha. Both images are of four channels. Returns how many
/// pixels.
std::uint64_t weigh_by_alpha(const io::Image& image, const ImageFilter& how, int threads, io::Image& result);

}  // namespace espalier::bench::apps
