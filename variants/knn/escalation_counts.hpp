#pragma once

#include <cstdint>

namespace espalier::knn {

/// How many queries of a call `screened_threshold` could not answer by its first screening, and who answered them. At
/// the beginning of its workspace, so that a test can see that the stages did what they are for.
struct EscalationCounts {
    std::int32_t by_cell;  ///< by products of points centred by cell
    std::int32_t listed;   ///< by distances to the candidates of the first screening, many as they are
    std::int32_t direct;   ///< by distances to all points
    std::int32_t at_once;  ///< of these, without products with all points: a sample of the queries said so
};

}  // namespace espalier::knn
