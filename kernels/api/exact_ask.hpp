#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "espalier/error.hpp"
#include "espalier/options.hpp"
#include "kernels/api/arrays.hpp"
#include "kernels/api/exact_model.hpp"
#include "kernels/api/exact_search.hpp"

namespace espalier::inline v1 {

/// Where the results of a call go; null for what nobody wants to know.
struct ExactResults {
    std::int32_t* classes = nullptr;
    double* targets = nullptr;
    double* distances = nullptr;
    std::int32_t* indices = nullptr;
    MatrixLayout layout = MatrixLayout::row_major;              ///< of the lists
    std::int64_t stride = 0;                                    ///< of the lists, as in `NeighbourLists`
    std::optional<double> radius{};                             ///< instead of k
    std::vector<std::vector<exact::Neighbour>>* all = nullptr;  ///< one list per query
};

inline ExactResults exact_lists(const ExactNeighbourLists& to) {
    return {.distances = to.distances, .indices = to.indices, .layout = to.layout, .stride = to.stride};
}

/// How large a set of items is, and how it lies in memory.
inline Items shape_of(const ItemsOfDoubles& items) {
    return {nullptr, items.count, items.dims, items.layout, items.stride};
}

/// The array of a set of items.
ArraySpec spec_of(std::string_view name, const ItemsOfDoubles& items);

/// Says what is wrong with options of a call whose arrays are in host memory.
std::optional<Error> not_on_host(const Options& options);

std::optional<Error> invalid_exact_queries(const ExactKnnModel& model, const ItemsOfDoubles& queries);

/// Whether nobody asks for a pipeline and the points' bytes tell the nearest of them.
bool looks_at_bytes(const ExactKnnModel& model, const Options& options);

/// Queries at a time, so that these and their candidates stay within some 16 MiB.
std::int64_t queries_at_once(const ExactKnnModel& model, std::int64_t queries);

/// Answers queries, block after block.
Result<void> ask_exactly(const ExactKnnModel& model, const ItemsOfDoubles& queries, const ExactResults& results,
                         const Options& options);

}  // namespace espalier::inline v1
