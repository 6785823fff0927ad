#pragma once

#include <cstddef>
#include <memory>

#include "harness/families/family.hpp"
#include "harness/learn/matrix.hpp"
#include "kernels/core/device_info.hpp"

namespace espalier::bench::learn {

/// Problems of the family's domain (harness/families/domain.hpp, never those of `Stream::unseen`) with which choices
/// support them. The same for every fold. Of absent columns they have the default, as all that was measured. None
/// where the family declares no domain.
std::shared_ptr<const DrawnProblems> draw_for(const Family& family, const DeviceInfo& device, const Matrix& matrix,
                                              std::size_t count);

}  // namespace espalier::bench::learn
