// What `transfer_ns` times: the copies alone. Inputs and outputs must be what they were, whatever is poisoned.

#include <gtest/gtest.h>

#include "harness/bench/families/family.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench {
namespace {

TEST(Transfer, ChangesNeitherInputsNorOutputs) {
    const DeviceInfo device = device::open(0);  // the host executor, or a GPU
    for (const Family* family : families()) {
        const std::string problem = family->default_problems(DeviceKind::cuda, Effort::quick).front();
        const std::size_t baseline = family->baseline(DeviceKind::cuda);
        const Configuration configuration = family->variants()[baseline].configurations.front();
        const auto bench = family->bench(problem, 7, Pattern::uniform, device);
        bench->poison(0xA5);
        bench->run(baseline, configuration);
        device::synchronize();
        const auto before = bench->outputs();
        bench->transfer();
        EXPECT_EQ(bench->outputs(), before) << family->name();
        bench->poison(0x5A);
        bench->transfer();
        bench->run(baseline, configuration);
        EXPECT_EQ(bench->check(baseline).description, "") << family->name() << " after a transfer";
    }
}

}  // namespace
}  // namespace espalier::bench
