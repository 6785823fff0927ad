#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/train/train.hpp"

namespace espalier::bench::learn {

/// The regret of one device's problems with the tree of another one.
struct TransferCell {
    std::string tree;         ///< device key, or "baseline" for no tree at all
    double regret = 1;        ///< geometric mean, over the problems where the choice has a time there
    std::size_t unknown = 0;  ///< problems where it has none
    bool fallback = false;    ///< what the library would take first if the device had no tree of its own
};

struct TransferRow {
    std::string family, device;       ///< whose problems and times
    std::vector<TransferCell> cells;  ///< its own tree, then the others of its kind from the best on, and the baseline
                                      ///< among them
};

/// The rows of every family and device. Trees of the other kind of device choose what cannot run there and are left
/// out. `trained` are devices trained with the same options.
std::vector<TransferRow> transfer(const std::vector<TrainedDevice>& trained);

}  // namespace espalier::bench::learn
