#pragma once

#include <optional>
#include <string_view>

#include "espalier/convolution_2d.hpp"
#include "kernels/api/checks.hpp"

namespace espalier {

/// What is wrong with the pitch of an image of a valid shape.
inline std::optional<Error> invalid_pitch(std::string_view name, const ImageShape& shape, std::int64_t pitch) {
    return invalid_stride({.name = name,
                           .of = "a row",
                           .given = pitch,
                           .rows = shape.height,
                           .row = shape.width * shape.channels,
                           .unit = "bytes"});
}

}  // namespace espalier
