#pragma once

#include <string>

#include "harness/bench/emit/trained.hpp"
#include "harness/bench/learn/learn_options.hpp"

namespace espalier::bench::learn {

/// The bytes of the forest's file, <device-key>.forest, that goes with a trained tree: the same on every machine.
std::string forest_of(const Trained& trained, const DeviceInfo& device, const LearnOptions& options);

}  // namespace espalier::bench::learn
