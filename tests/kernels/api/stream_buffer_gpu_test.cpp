// What the pool of device memory keeps on a real GPU. The host executor has no pool.

#include <gtest/gtest.h>

#include "kernels/device/runtime.hpp"

namespace espalier::device {
namespace {

/// A buffer that comes, goes and is waited for; the memory that is free then.
std::size_t free_after(std::size_t bytes) {
    { const StreamBuffer buffer(bytes, nullptr); }
    synchronize_all();
    return memory_state().free;
}

TEST(StreamBuffer, StaysInThePoolForTheNextOneAlthoughSomebodyWaited) {
    if (count() == 0) GTEST_SKIP() << "no GPU: " << unavailable_reason();
    open(0);
    const MemoryState before = memory_state();
    const std::size_t bytes = before.total / 64;  // of the thirty-second that is kept
    const std::size_t first = free_after(bytes);
    EXPECT_LE(first, before.free - bytes);
    EXPECT_EQ(free_after(bytes), first) << "it came from elsewhere the second time";
}

}  // namespace
}  // namespace espalier::device
