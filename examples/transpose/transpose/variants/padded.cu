// As shared, with a column more than the tile needs: columns lie in 32 different banks.

#include "transpose/variants/tile.cuh"

namespace espalier::transpose {

Variant<Problem> padded() {
    return {.role = Role::documented,
            .summary = "tiles in shared memory, padded by a column",
            .source = "",
            .tolerance = kExact,
            .space = {},
            .supports = supports,
            .run = run<1>};
}

}  // namespace espalier::transpose
