// The columns of the tile lie in one bank each: 32 conflicts.

#include "transpose/variants/tile.cuh"

namespace espalier::transpose {

Variant<Problem> shared() {
    return {.role = Role::documented,
            .summary = "tiles in shared memory, columns in one bank",
            .source = "",
            .tolerance = kExact,
            .space = {},
            .supports = supports,
            .run = run<0>};
}

}  // namespace espalier::transpose
