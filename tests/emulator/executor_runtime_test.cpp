// kernels/device/runtime.hpp as the host executor implements it.

#include <chrono>
#include <cstring>
#include <thread>

#include "tests/emulator/executor_support.hpp"

namespace espalier::device {
namespace {

TEST(Device, IsOneEmulatedGpu) {
    EXPECT_EQ(count(), 1);
    EXPECT_EQ(unavailable_reason(), "");
    const DeviceInfo info = open(0);
    EXPECT_TRUE(info.emulated);
    EXPECT_EQ(info.kind, DeviceKind::cuda);
    EXPECT_EQ(info.key, "host-executor");
    EXPECT_EQ(info.sm, 90);
    EXPECT_EQ(info.shared_per_block_optin, 227U * 1024);
    expect_refused([] { static_cast<void>(open(1)); }, {101}, "cudaErrorInvalidDevice");
}

TEST(Memory, IsAlignedAndNeverZeroByChance) {
    const Buffer buffer(1000);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 256, 0U);
    EXPECT_EQ(download<std::uint8_t>(buffer), std::vector<std::uint8_t>(1000, 0xFF));
    const host::ScopedExecution scope({}, 0x5A);
    EXPECT_EQ(download<std::uint8_t>(Buffer(3)), std::vector<std::uint8_t>(3, 0x5A));
}

TEST(Memory, RunsOutAsOnADevice) {
    const MemoryState before = memory_state();
    try {
        const Buffer too_large(before.free + 1);
        ADD_FAILURE() << "allocated more than there is";
    } catch (const DeviceError& error) {
        EXPECT_TRUE(error.out_of_memory()) << error.what();
    }
    const Buffer buffer(4096);
    EXPECT_EQ(memory_state().free, before.free - 4096);
}

TEST(Memory, OfNoBytesIsNull) { EXPECT_EQ(Buffer(0).data(), nullptr); }

TEST(Memory, MovesWithItsOwner) {
    Buffer first(64);
    std::byte* const data = first.data();
    Buffer second(std::move(first));
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(first.data(), nullptr);
    first = std::move(second);
    EXPECT_EQ(first.data(), data);
}

TEST(Copies, MoveBytes) {
    const Buffer a = upload(std::vector<int>{1, 2, 3}), b(3 * sizeof(int));
    copy_on_device(b.data(), a.data(), b.size());
    EXPECT_EQ(download<int>(b), (std::vector<int>{1, 2, 3}));
    fill(b.data() + 4, 0, 4);
    EXPECT_EQ(download<int>(b), (std::vector<int>{1, 0, 3}));
    PinnedBuffer pinned(12);
    copy_to_host(pinned.data(), b.data(), 12);
    int third = 0;
    std::memcpy(&third, pinned.data() + 8, sizeof third);
    EXPECT_EQ(third, 3);
}

TEST(Copies, OutsideOfDeviceMemoryAreRefused) {
    const Buffer buffer(16);
    std::vector<std::byte> host_memory(32);
    const auto refused = [](auto copy) { expect_refused(copy, {1}, "cudaErrorInvalidValue"); };
    refused([&] { copy_to_device(buffer.data(), host_memory.data(), 17); });
    refused([&] { copy_to_device(host_memory.data(), host_memory.data(), 1); });
    refused([&] { copy_to_host(host_memory.data(), buffer.data() + 1, 16); });
    refused([&] { copy_on_device(buffer.data(), host_memory.data(), 4); });
    refused([&] { fill(buffer.data() + 16, 0, 1); });
    std::byte* released = Buffer(16).data();
    refused([&] { fill(released, 0, 1); });
}

TEST(StreamsAndEvents, KeepOrderAndTime) {
    const OwnedStream first, second;
    EXPECT_NE(first.get(), nullptr);
    EXPECT_NE(first.get(), second.get());
    Event start, end;
    expect_refused([&] { static_cast<void>(end.nanoseconds_since(start)); }, {400}, "cudaErrorInvalidResourceHandle");
    start.record(first.get());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    end.record(first.get());
    end.make_wait(second.get());
    end.wait_for();
    synchronize(second.get());
    EXPECT_GE(end.nanoseconds_since(start), 2e6);
    EXPECT_EQ(start.nanoseconds_since(start), 0);
}

}  // namespace
}  // namespace espalier::device
