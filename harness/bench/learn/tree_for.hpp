#pragma once

#include "harness/bench/families/family.hpp"
#include "harness/bench/learn/learn.hpp"

namespace espalier::bench::learn {

/// The problems that were measured on devices that are alike, then `count` of the family's domain (never those of
/// `Stream::unseen`; none where it declares no domain), then the measured ones with data of other kinds, with which
/// choices support them; the same for every fold. Of absent columns they have the default, as all that was measured.
std::shared_ptr<const DrawnProblems> draw_problems_for(const Family& family, const DeviceInfo& device,
                                                       const Matrix& matrix, std::size_t count);

/// The tree of a family for a device: learnt from all rows and from the matrix's drawn problems, with rankings that
/// serve other devices, too.
Tree tree_for(const Family& family, const DeviceInfo& device, const Matrix& matrix, const LearnOptions& options = {});

}  // namespace espalier::bench::learn
