#pragma once

#include <vector>

#include "harness/families/family.hpp"
#include "harness/learn/matrix.hpp"
#include "harness/learn/tree.hpp"

namespace espalier::bench::learn {

/// Devices that a tree may have to serve because it is the most similar that there is: the same one with fewer
/// instruction sets, or with the compute capability and shared memory of other GPUs. Their other limits are the
/// trained device's.
std::vector<DeviceInfo> devices_like(const DeviceInfo& trained);

/// Adds to each leaf's ranking, before its baseline, what is best in that leaf among the choices that each other device
/// can run, in the order of the slowdowns that were measured here. What the leaf decides on the trained device
/// stays as it is: that comes first. A leaf without problems of its own goes by those of the nearest node above it.
void serve_other_devices(const Family& family, const DeviceInfo& trained, const Matrix& matrix, Tree& tree);

}  // namespace espalier::bench::learn
