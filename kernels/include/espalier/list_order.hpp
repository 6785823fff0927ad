#pragma once

#include <cstdint>

namespace espalier::inline v1 {

/// How the entries of a list of the k smallest follow each other. What belongs to the list is the same either way.
enum class ListOrder : std::uint8_t {
    ascending,  ///< by value, ties by the lower index
    any,        ///< as is fastest; entries without an element come last all the same
};

}  // namespace espalier::inline v1
