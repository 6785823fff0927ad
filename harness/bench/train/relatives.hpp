#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "harness/bench/emit/trained.hpp"
#include "kernels/dispatch/tree_file.hpp"

namespace espalier::bench::learn {

/// The tree that a device without one of its own would be asked, as a file has it.
struct RelativeTree {
    std::string device_key, text;
    int problems = 0;  ///< that its leaves rest on
};

/// That a tree's leaves rest on.
int problems_of(const TreeFile& tree);

/// Among the files <family>/<device-key>.tree of the folders, the later ones' in place of the earlier ones' of the same
/// device: the tree of another device that the library would ask first on this one
/// (kernels/dispatch/similar_trees.hpp). What cannot be read as a tree is passed over.
std::optional<RelativeTree> nearest_relative(std::span<const std::filesystem::path> folders, const std::string& family,
                                             const DeviceInfo& device);

/// What both cost on the problems that were measured on the device, geometric means.
struct BesideRelative {
    double own = 1;       ///< of trees that had not seen the problem
    double relative = 1;  ///< of the relative's, which has seen no time of this device
    std::size_t problems = 0;
};

/// Nothing without held-out figures, and if the relative's choices have no time on a tenth of the problems or more:
/// what was not measured here nobody can judge.
std::optional<BesideRelative> beside_relative(const Trained& own, const DeviceInfo& device,
                                              const RelativeTree& relative);

/// Whether the relative's tree is to be shipped for the device: it rests on more problems, and costs less here.
bool is_better(const RelativeTree& relative, const BesideRelative& cost, const Trained& own);

}  // namespace espalier::bench::learn
