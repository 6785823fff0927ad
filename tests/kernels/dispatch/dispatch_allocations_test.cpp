// A choice by a tree allocates nothing, compiled or loaded: counted by an operator new of the program's own.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "kernels/dispatch/loaded_tree.hpp"
#include "tests/kernels/dispatch/invented_trees.hpp"
#include "tests/kernels/dispatch/tree_text.hpp"

namespace {
std::atomic<int> allocations{0};
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
    ++allocations;
    if (void* memory = std::malloc(bytes ? bytes : 1)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace espalier {
namespace {

using namespace invented_trees;

TEST_F(Dispatch, AllocatesNothingWhenTheFirstChoiceFits) {
    const auto device = cpu_device(4, Isa::avx2);
    const Problem problem = sized(10, 500);
    const Tables<Problem> all = tables();
    const int before = allocations;
    const auto decision = decide(all, problem, device, nullptr);
    EXPECT_EQ(allocations, before);
    EXPECT_TRUE(decision);
}

TEST_F(Dispatch, ChoosingByALoadedTreeAllocatesNothing) {
    const auto tree = tree_of<Problem>(
        read_tree(tree_text::one_leaf("convolution_2d", "cpu-zen4-avx2-4t", {{"baseline", "default"}})), registry);
    trees_ = {tree->selector};
    const auto device = cpu_device(4, Isa::avx2);
    const Tables<Problem> all = tables();
    const Problem problem = sized(10, 10);
    const int before = allocations;
    const auto decision = decide(all, problem, device, nullptr);
    EXPECT_EQ(allocations, before);
    EXPECT_TRUE(decision);
}

}  // namespace
}  // namespace espalier
