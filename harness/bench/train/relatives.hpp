#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "harness/bench/emit/trained.hpp"
#include "kernels/dispatch/tree_file.hpp"

namespace espalier::bench::learn {

struct TrainingFolders;

/// The tree that a device without one of its own would be asked, as a file has it.
struct RelativeTree {
    std::string device_key, text;
    int problems = 0;  ///< that its leaves rest on
};

/// That a tree's leaves rest on.
int problems_of(const TreeFile& tree);

/// The variants that the library may choose and the device would run, but that it has no time of, and none lent.
std::set<std::string> untried_variants(const Trained& own, const DeviceInfo& device);

/// Among the files <family>/<device-key>.tree of the evidence and the output, the latter's in place of the former's of
/// the same device: the tree of another device that the library would ask first on this one
/// (kernels/dispatch/similar_trees.hpp), of those that rank any of `wanted`, unless there is none of it. Those of the
/// output of devices that are alike have learned from this one's times, and no tree is judged by times that it has
/// seen: they are passed over, and so is what cannot be read as a tree.
std::optional<RelativeTree> nearest_relative(const TrainingFolders& folders, const std::string& family,
                                             const DeviceInfo& device, const std::set<std::string>& wanted);

/// What both cost on the problems that were measured on the device, geometric means.
struct BesideRelative {
    double own = 1;            ///< of trees that had not seen the problem
    double relative = 1;       ///< of the relative's, which has seen no time of this device
    std::size_t problems = 0;  ///< where both have a time
    std::size_t untried = 0;   ///< where the relative's choice is a variant that was never tried here
};

/// Nothing without held-out figures, or where the relative's text is no tree of this family.
std::optional<BesideRelative> beside_relative(const Trained& own, const DeviceInfo& device,
                                              const RelativeTree& relative, const std::set<std::string>& untried);

/// Whether the relative's tree is to be shipped for the device: it rests on twice as many problems, and either costs
/// half a percent less here, as the own one knew nine tenths of its problems when it was judged, or chooses what was
/// never tried here for a tenth of the problems or more, of which the device's own times say nothing. Costs of less
/// than nine tenths of the problems judge nothing.
bool is_better(const RelativeTree& relative, const BesideRelative& cost, const Trained& own);

}  // namespace espalier::bench::learn
