#pragma once

#include <cstdint>

#include "espalier/device.hpp"
#include "harness/apps/sessions/knn_votes.hpp"
#include "harness/apps/tables/table.hpp"
#include "harness/cli/knn_options.hpp"

namespace espalier::bench::cli {

/// Of the numbers of neighbours in `options.ks` the one that predicts each training row best by all others (the most
/// right, or the least sum of squared errors), the smallest of those that are equally good. One search serves all of
/// them. What each is worth is told on stderr. Throws Failure for more neighbours than rows.
std::int64_t choose_k(const Device& device, const io::Table& train, apps::KnnSettings settings,
                      const KnnOptions& options);

}  // namespace espalier::bench::cli
