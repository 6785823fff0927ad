// Copies between host and device are measured; here by the host executor, whose rates are nobody's.

#include "harness/bench/profile/copy_rates.hpp"

#include <gtest/gtest.h>

#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

TEST(CopyRates, AreMeasuredInBothDirectionsFromBothKindsOfMemory) {
    device::open(0);
    const CopyRates rates = measure_copy_rates();
    for (const double rate :
         {rates.pageable_to_device, rates.pageable_to_host, rates.pinned_to_device, rates.pinned_to_host})
        EXPECT_GT(rate, 1e6) << "bytes per second";
}

}  // namespace
}  // namespace espalier::bench
