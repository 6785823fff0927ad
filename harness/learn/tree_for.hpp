#pragma once

#include "harness/families/family.hpp"
#include "harness/learn/learn.hpp"

namespace espalier::bench::learn {

/// The tree of a family for a device: learnt from all rows and from problems drawn of the family's domain
/// (harness/families/domain.hpp), which the matrix gets, with rankings that serve other devices, too.
Tree tree_for(const Family& family, const DeviceInfo& device, Matrix& matrix, const LearnOptions& options = {});

}  // namespace espalier::bench::learn
