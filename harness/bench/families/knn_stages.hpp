#pragma once

#include <string>
#include <vector>

#include "kernels/core/configuration.hpp"
#include "kernels/problems/knn.hpp"

/// Watches the variants that pipelines of knn run as their stages, and pins them where a case names them.
namespace espalier::bench::knn {

/// Chooses as the library does, or the variants that `pin_stages` names, and notes which of them run. Both are of the
/// calling thread. A pinned variant that cannot run the stage throws NoChoice with its reason.
espalier::knn::Stages watched_stages();

/// From now on the stages are the variants that the configuration pins (`pins_a_stage`), in their default
/// configurations; the others are chosen.
void pin_stages(const Configuration& configuration);

/// The variants that have run as stages since the last call: "distance/register_tile", by family and name.
std::vector<std::string> take_stages_run();

}  // namespace espalier::bench::knn
