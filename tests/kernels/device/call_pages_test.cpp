// A call's memory on the host: large pieces are used again, by one call at a time.

#include "kernels/device/call_pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace espalier::device {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

#ifdef MADV_FREE
TEST(CallPages, TheNextCallUsesThemAgain) {
    const std::byte* before = nullptr;
    {
        const CallPages first(32 * kMiB + 12'345);
        std::fill_n(first.data(), 32 * kMiB + 12'345, std::byte{1});
        before = first.data();
    }
    {
        const CallPages smaller(5 * kMiB);
        EXPECT_EQ(smaller.data(), before);
    }
    const CallPages same(32 * kMiB + 12'345);
    EXPECT_EQ(same.data(), before);  // whole, whatever the call between asked for
    const CallPages beside(5 * kMiB);
    EXPECT_NE(beside.data(), before);
}

TEST(CallPages, KeepTheLargerOfTwo) {
    const std::byte* large = nullptr;
    {
        const CallPages a(8 * kMiB), b(64 * kMiB), c(6 * kMiB);  // freed from the last one on
        large = b.data();
    }
    EXPECT_EQ(CallPages(64 * kMiB).data(), large);
}
#endif

TEST(CallPages, BelongToOneCallAtATime) {
    std::vector<std::thread> threads;
    std::vector<std::size_t> wrong(4);
    for (unsigned t = 0; t < wrong.size(); ++t)
        threads.emplace_back([&, t] {
            for (unsigned turn = 0; turn < 300; ++turn) {
                const std::size_t bytes = (2 + (turn + t) % 3) * kMiB;
                const CallPages pages(bytes);
                const auto mine = static_cast<std::byte>(t);
                for (std::size_t at = 0; at < bytes; at += 4096) pages.data()[at] = mine;
                pages.data()[bytes - 1] = mine;
                for (std::size_t at = 0; at < bytes; at += 4096) wrong[t] += pages.data()[at] != mine;
                wrong[t] += pages.data()[bytes - 1] != mine;
            }
        });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, std::vector<std::size_t>(4));
}

TEST(CallPages, AreAlignedAndMove) {
    for (const std::size_t bytes : {std::size_t{1}, kMiB, 2 * kMiB, 300 * kMiB}) {
        CallPages pages(bytes);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pages.data()) % 64, 0U) << bytes;
        pages.data()[bytes - 1] = std::byte{7};
        const CallPages moved = std::move(pages);
        EXPECT_EQ(moved.data()[bytes - 1], std::byte{7});
    }
    EXPECT_EQ(CallPages().data(), nullptr);
}

TEST(CallPages, WorkInAChild) {
    { const CallPages before(4 * kMiB); }
    const pid_t child = fork();
    if (child == 0) {
        const CallPages pages(4 * kMiB);
        std::fill_n(pages.data(), 4 * kMiB, std::byte{3});
        _exit(pages.data()[4 * kMiB - 1] == std::byte{3} ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace espalier::device
