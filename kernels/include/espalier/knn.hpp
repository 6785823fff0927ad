#pragma once

#include <cstdint>

#include "espalier/distance.hpp"

namespace espalier {

/// What the k nearest neighbours of a query say together. A neighbour at distance NaN says nothing.
enum class Vote {
    majority,  ///< each counts as much as another
    /// Each counts 1 / distance. Neighbours at distance 0, if there are any, are the only ones that count.
    distance_weighted,
};

/// What is predicted.
enum class Task {
    classification,  ///< the class with the most votes; of several, the one with the smallest number
    regression,      ///< the mean of the neighbours' targets, weighted as the vote says
};

/// Where the queries come from and the predictions go to. The points are where the work runs in any case.
enum class QueriesIn {
    device,  ///< memory of the device
    host,    ///< pageable memory of the host, so that their way there and back is part of the work
};

/// The class of a query that has no neighbour with a say (its target of a regression is NaN then).
inline constexpr std::int32_t kNoClass = -1;

}  // namespace espalier
