// Races in kernels are found whatever the order of their threads, in a build that watches accesses.

#include <numeric>

#include "tests/emulator/executor_support.hpp"

namespace espalier::device {
namespace {

/// Each kernel is right with `Right` and has one race without it.
template <bool Right>
__global__ void rotate(int* out) {
    auto& numbers = shared<int[64], struct Numbers>();
    numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (Right) __syncthreads();
    out[threadIdx.x] = numbers[(threadIdx.x + 1) % 64];
}

template <bool Right>
__global__ void reuse(int* out) {
    auto& numbers = shared<int[64], struct Numbers>();
    for (int step = 0; step < 2; ++step) {
        numbers[threadIdx.x] = step;
        __syncthreads();
        out[threadIdx.x] += numbers[63 - threadIdx.x];
        if (Right) __syncthreads();
    }
}

template <bool Right>
__global__ void shuffle_orders_no_memory(int* out) {
    auto& numbers = shared<int[32], struct Numbers>();
    numbers[threadIdx.x] = 1;
    if (Right)
        __syncwarp();
    else
        __shfl_sync(0xffffffff, 0, 0);
    out[threadIdx.x] = numbers[31 - threadIdx.x];
}

/// No order of whole threads can show this one: every thread adds without being disturbed.
template <bool Right>
__global__ void count(int* out) {
    auto& counter = shared<int, struct Counter>();
    if (threadIdx.x == 0) counter = 0;
    __syncthreads();
    if (Right)
        atomicAdd(&counter, 1);
    else
        ++counter;
    __syncthreads();
    out[threadIdx.x] = counter;
}

/// Neither this one, when the blocks run one after the other.
template <bool Right>
__global__ void count_blocks(int* out) {
    if (Right)
        atomicAdd(out, 1);
    else
        *out += 1;
}

template <bool Right>
__global__ void read_histogram(int* out) {
    auto& bins = shared<int[4], struct Bins>();
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[threadIdx.x % 4], 1);
    if (Right) __syncthreads();
    if (threadIdx.x < 4) out[threadIdx.x] = bins[threadIdx.x];
}

template <bool Right>
__global__ void bytes(int* out) {
    auto& values = shared<unsigned char[64], struct Values>();
    values[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
    if (!Right) values[(threadIdx.x + 1) % 64] = 255;
    __syncthreads();
    out[threadIdx.x] = values[63 - threadIdx.x];
}

/// Every thread writes the same: allowed.
template <bool Right>
__global__ void agree(int* out) {
    auto& value = shared<int, struct Value>();
    value = Right ? 7 : static_cast<int>(threadIdx.x);
    out[threadIdx.x] = value;
}

template <bool Right>
__global__ void last_block_adds(int* out, int* partial, unsigned* arrived) {
    auto& last = shared<bool, struct Last>();
    partial[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = Right ? atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1 : blockIdx.x == 3;
    __syncthreads();
    if (!last || threadIdx.x != 0) return;
    for (unsigned i = 0; i < gridDim.x * blockDim.x; ++i) *out += partial[i];
}

__global__ void copy(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x]; }

template <bool Right>
void run_last_block() {
    const Buffer out = upload(std::vector<int>{0}), arrived = upload(std::vector<unsigned>{0});
    const Buffer partial(4 * 32 * sizeof(int));
    launch(last_block_adds<Right>, 4, 32, 0, nullptr, out.as<int>(), partial.as<int>(), arrived.as<unsigned>());
    EXPECT_EQ(download<int>(out)[0], 128);
}

void expect_race(void (*wrong)(int*), dim3 grid, dim3 block, const std::vector<std::string>& parts) {
    for (const host::Execution& execution : host::contrasting_executions()) {
        const host::ScopedExecution scope(execution.order, execution.poison);
        std::vector<std::string> all{"race on byte", "nothing orders the two", "races_test.cpp:"};
        all.insert(all.end(), parts.begin(), parts.end());
        expect_fault([&] { results_of(wrong, 64, grid, block); }, all);
    }
}

TEST(Races, RightKernelsHaveNone) {
    for (const host::Execution& execution : host::contrasting_executions()) {
        const host::ScopedExecution scope(execution.order, execution.poison);
        EXPECT_NO_THROW(results_of(rotate<true>, 64, 1, 64));
        EXPECT_NO_THROW(results_of(reuse<true>, 64, 1, 64));
        EXPECT_NO_THROW(results_of(shuffle_orders_no_memory<true>, 64, 1, 32));
        EXPECT_NO_THROW(results_of(count<true>, 64, 1, 64));
        EXPECT_NO_THROW(results_of(count_blocks<true>, 64, 8, 1));
        EXPECT_NO_THROW(results_of(read_histogram<true>, 64, 1, 64));
        EXPECT_NO_THROW(results_of(bytes<true>, 64, 1, 64));
        EXPECT_NO_THROW(results_of(agree<true>, 64, 1, 64));
        EXPECT_NO_THROW(run_last_block<true>());
    }
}

TEST(Races, OfAMissingBarrierAreFoundInEveryOrder) {
    expect_race(rotate<false>, 1, 64, {"shared int[64] Numbers of 256 bytes", "rotate"});
    expect_race(reuse<false>, 1, 64, {"Numbers"});
    expect_race(shuffle_orders_no_memory<false>, 1, 32, {"Numbers"});
    expect_race(read_histogram<false>, 1, 64, {"Bins"});
}

TEST(Races, ThatNoOrderShowsAreFound) {
    expect_race(count<false>, 1, 64, {"Counter"});
    expect_race(count_blocks<false>, 8, 1, {"device memory", "of another block"});
    expect_race(bytes<false>, 1, 64, {"Values"});
    expect_race(agree<false>, 1, 64, {"Value"});
}

TEST(Races, BetweenBlocksAreFoundWithoutAnAtomic) {
    expect_fault([] { run_last_block<false>(); }, {"device memory of 512 bytes", "of another block wrote it"});
}

TEST(Races, LeaveTheExecutorUsable) {
    for (int repeat = 0; repeat < 3; ++repeat) {
        EXPECT_THROW(results_of(rotate<false>, 64, 1, 64), host::ExecutionFault);
        EXPECT_NO_THROW(results_of(rotate<true>, 64, 1, 64));
    }
}

TEST(Accesses, OutsideOfDeviceMemoryAreFound) {
    std::vector<int> host_memory(32);
    const Buffer out(32 * sizeof(int)), in(31 * sizeof(int));
    expect_fault([&] { launch(copy, 1, 32, 0, nullptr, out.as<int>(), host_memory.data()); },
                 {"memory that is neither device nor shared memory was read in", "races_test.cpp:"});
    expect_fault([&] { launch(copy, 1, 32, 0, nullptr, out.as<int>(), in.as<const int>()); },
                 {"device memory of 124 bytes was read at byte 124 in", "thread (31,0,0)"});
    expect_fault([&] { launch(copy, 1, 32, 0, nullptr, in.as<int>(), out.as<const int>()); },
                 {"device memory of 124 bytes was written at byte 124 in"});
    EXPECT_NO_THROW(launch(copy, 1, 31, 0, nullptr, in.as<int>(), out.as<const int>()));
}

}  // namespace
}  // namespace espalier::device
