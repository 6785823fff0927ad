// The host executor finds what it says it finds: every fault is planted in a kernel here and must be
// reported, and the same kernel without the fault must run.

#include <algorithm>
#include <numeric>
#include <thread>

#include "device/cub.hpp"
#include "device/texture.hpp"
#include "tests/emulator/executor_support.hpp"

namespace espalier::device {
namespace {

using host::ExecutionFault;
using host::ExecutionOrder;
using host::ScopedExecution;
using Kind = ExecutionOrder::Kind;

/// Each thread takes its neighbour's number through shared memory.
template <bool Barrier>
__global__ void rotate(int* out) {
    auto& numbers = shared<int[128], struct Numbers>();
    numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (Barrier) __syncthreads();
    out[threadIdx.x] = numbers[(threadIdx.x + 1) % 128];
}

/// A missing barrier between the lanes of each warp: the second half of a tile loop, where the tile is reused.
template <bool SecondBarrier>
__global__ void reuse(int* out) {
    auto& tile = shared<int[64], struct Tile>();
    int sum = 0;
    for (int step = 0; step < 4; ++step) {
        tile[threadIdx.x] = step * static_cast<int>(threadIdx.x);
        __syncthreads();
        sum += tile[63 - threadIdx.x];
        if (SecondBarrier) __syncthreads();
    }
    out[threadIdx.x] = sum;
}

/// Threads of different warps exchange a number: __syncwarp is not enough.
template <bool Enough>
__global__ void exchange_between_warps(int* out) {
    auto& numbers = shared<int[64], struct Numbers>();
    numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (Enough)
        __syncthreads();
    else
        __syncwarp();
    out[threadIdx.x] = numbers[(threadIdx.x + 32) % 64];
}

/// Lanes of one warp exchange a number without saying so.
template <bool Synchronised>
__global__ void exchange_in_warp(int* out) {
    auto& numbers = shared<int[32], struct Numbers>();
    numbers[threadIdx.x] = static_cast<int>(threadIdx.x);
    if (Synchronised) __syncwarp();
    out[threadIdx.x] = numbers[31 - threadIdx.x];
}

/// The last block to arrive adds up what all have written.
template <bool Count>
__global__ void add_blocks(int* out, int* partial, unsigned* arrived) {
    partial[blockIdx.x] = static_cast<int>(blockIdx.x) + 1;
    __threadfence();
    const bool last = Count ? atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1 : blockIdx.x == gridDim.x - 1;
    if (!last) return;
    for (unsigned b = 0; b < gridDim.x; ++b) *out += partial[b];
}

std::optional<std::string> nondeterminism_of_blocks(void (*kernel)(int*, int*, unsigned*)) {
    return host::find_nondeterminism([&] {
        const Buffer out = upload(std::vector<int>{0}), arrived = upload(std::vector<unsigned>{0});
        const Buffer partial(16 * sizeof(int));
        launch(kernel, 16, 1, 0, nullptr, out.as<int>(), partial.as<int>(), arrived.as<unsigned>());
        const auto sum = download<std::byte>(out);
        return sum;
    });
}

TEST(Races, MissingBarrierShowsInTheOutputs) {
    EXPECT_FALSE(nondeterminism_of(rotate<true>, 128, 1, 128));
    EXPECT_TRUE(nondeterminism_of(rotate<false>, 128, 1, 128));
}

TEST(Races, MissingSecondBarrierOfATileLoopShows) {
    EXPECT_FALSE(nondeterminism_of(reuse<true>, 64, 1, 64));
    EXPECT_TRUE(nondeterminism_of(reuse<false>, 64, 1, 64));
}

TEST(Races, WarpBarrierBetweenWarpsShows) {
    EXPECT_FALSE(nondeterminism_of(exchange_between_warps<true>, 64, 1, 64));
    EXPECT_TRUE(nondeterminism_of(exchange_between_warps<false>, 64, 1, 64));
}

TEST(Races, LanesInLockstepByAssumptionShow) {
    EXPECT_FALSE(nondeterminism_of(exchange_in_warp<true>, 32, 1, 32));
    EXPECT_TRUE(nondeterminism_of(exchange_in_warp<false>, 32, 1, 32));
}

TEST(Races, BlocksThatTrustTheirOrderShow) {
    EXPECT_FALSE(nondeterminism_of_blocks(add_blocks<true>));
    EXPECT_TRUE(nondeterminism_of_blocks(add_blocks<false>));
}

TEST(Races, DifferencesNameTheExecutions) {
    const auto found = nondeterminism_of(rotate<false>, 128, 1, 128);
    ASSERT_TRUE(found);
    EXPECT_NE(found->find("forward order with poison 0xff"), std::string::npos) << *found;
    EXPECT_NE(found->find("byte"), std::string::npos) << *found;
}

__global__ void read_shared(int* out, bool initialise) {
    auto& numbers = shared<int[32], struct Numbers>();
    if (initialise) numbers[threadIdx.x] = 7;
    out[threadIdx.x] = numbers[threadIdx.x];
}

/// Block 0 leaves in shared memory what the next block must not find.
__global__ void read_shared_of_the_last_block(int* out) {
    auto& number = shared<int>();
    if (blockIdx.x == 0) number = 7;
    out[blockIdx.x] = number;
}

__global__ void read_dynamic(int* out) { out[0] = dynamic_shared<int>()[0]; }
__global__ void copy(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x]; }

TEST(UninitialisedReads, OfSharedMemoryShow) {
    EXPECT_FALSE(nondeterminism_of(read_shared, 32, 1, 32, true));
    EXPECT_TRUE(nondeterminism_of(read_shared, 32, 1, 32, false));
    EXPECT_TRUE(nondeterminism_of(read_shared_of_the_last_block, 2, 2, 1));
}

TEST(UninitialisedReads, OfDynamicSharedMemoryShow) {
    const Buffer out(sizeof(int));
    EXPECT_TRUE(host::find_nondeterminism([&] {
        launch(read_dynamic, 1, 1, 16, nullptr, out.as<int>());
        return download<std::byte>(out);
    }));
}

TEST(UninitialisedReads, OfDeviceMemoryShow) {
    EXPECT_TRUE(host::find_nondeterminism([] {
        const Buffer in(32 * sizeof(int)), out(32 * sizeof(int));
        launch(copy, 1, 32, 0, nullptr, out.as<int>(), in.as<int>());
        return download<std::byte>(out);
    }));
}

__global__ void barrier_after_return(unsigned returning) {
    if (threadIdx.x == returning) return;
    __syncthreads();
}

__global__ void barrier_in_one_branch() {
    if (threadIdx.x < 32) __syncthreads();
}

__global__ void barriers_in_both_branches() {
    if (threadIdx.x % 2 == 0)
        __syncthreads();
    else
        __syncthreads();
}

__global__ void barrier_per_iteration() {
    for (unsigned i = 0; i < threadIdx.x / 32 + 1; ++i) __syncthreads();
}

TEST(Barriers, ReturnBeforeOneIsReportedWithItsThread) {
    for (const Kind kind : {Kind::forward, Kind::reverse, Kind::interleaved, Kind::shuffled}) {
        const ScopedExecution scope({kind});
        expect_fault([] { launch(barrier_after_return, 3, 64, 0, nullptr, 5); },
                     {"barrier_after_return", "block (", "63 at __syncthreads", "executor_test.cpp",
                      "1 returned (first: (5,0,0))"});
    }
    EXPECT_NO_THROW(launch(barrier_after_return, 3, 64, 0, nullptr, 64));
}

TEST(Barriers, ReachedByAFewIsReported) {
    expect_fault([] { launch(barrier_in_one_branch, 1, 64, 0, nullptr); },
                 {"32 at __syncthreads", "32 returned (first: (32,0,0))"});
    EXPECT_NO_THROW(launch(barrier_in_one_branch, 1, 32, 0, nullptr));
}

TEST(Barriers, MetAtDifferentPlacesAreReported) {
    expect_fault([] { launch(barriers_in_both_branches, 1, 64, 0, nullptr); },
                 {"met at different barriers", "thread (0,0,0)", "thread (1,0,0)"});
}

TEST(Barriers, DifferentNumbersOfThemAreReported) {
    expect_fault([] { launch(barrier_per_iteration, 1, 64, 0, nullptr); }, {"32 at __syncthreads", "32 returned"});
    EXPECT_NO_THROW(launch(barrier_per_iteration, 1, 32, 0, nullptr));
}

__global__ void shuffle_with_mask(unsigned mask, unsigned lanes) {
    if (threadIdx.x < lanes) __shfl_sync(mask, 1, 0);
}

__global__ void shuffle_against_barrier() {
    if (threadIdx.x == 0)
        __syncwarp();
    else
        __syncthreads();
}

__global__ void different_operations() {
    if (threadIdx.x == 0)
        __ballot_sync(0xffffffff, 1);
    else
        __any_sync(0xffffffff, 1);
}

__global__ void different_masks() { __syncwarp(threadIdx.x == 0 ? 0x3 : 0xf); }

__global__ void sum_of_absent_lanes(unsigned* out) {
    unsigned value = 1;
    for (unsigned offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffff, value, offset);
    out[threadIdx.x] = value;
}

TEST(WarpMasks, ThatNameALaneThatNeverArrivesAreReported) {
    expect_fault([] { launch(shuffle_with_mask, 1, 32, 0, nullptr, 0xffffffff, 16); },
                 {"shuffle_with_mask", "16 in __shfl_sync with mask 0xffffffff", "16 returned (first: (16,0,0))"});
    EXPECT_NO_THROW(launch(shuffle_with_mask, 1, 32, 0, nullptr, 0xffff, 16));
}

TEST(WarpMasks, ThatNameLanesBeyondTheBlockAreReported) {
    expect_fault([] { launch(shuffle_with_mask, 1, 16, 0, nullptr, 0xffffffff, 16); }, {"16 in __shfl_sync"});
}

TEST(WarpMasks, WithoutTheCallerAreReported) {
    expect_fault([] { launch(shuffle_with_mask, 1, 32, 0, nullptr, 0xfffffff7, 32); },
                 {"mask 0xfffffff7 does not contain the caller, lane 3", "thread (3,0,0)"});
}

TEST(WarpMasks, OfLanesThatWaitElsewhereAreReported) {
    expect_fault([] { launch(shuffle_against_barrier, 1, 32, 0, nullptr); },
                 {"31 at __syncthreads", "1 in __syncwarp with mask 0xffffffff"});
    expect_fault([] { launch(different_operations, 1, 32, 0, nullptr); },
                 {"met in different operations", "__ballot_sync", "__any_sync"});
    expect_fault([] { launch(different_masks, 1, 4, 0, nullptr); }, {"mask 0x00000003", "mask 0x0000000f"});
}

TEST(WarpMasks, ValuesOfLanesOutsideThemAreUndefined) {
    EXPECT_TRUE(nondeterminism_of(sum_of_absent_lanes, 16, 1, 16));
}

__global__ void write_static(unsigned index) {
    int* const array = shared<int[33], struct Array>();  // a pointer: UBSan knows the bounds of arrays
    array[index] = 1;
}
__global__ void write_dynamic(int index) { dynamic_shared<char>()[index] = 1; }
__global__ void write_device(std::byte* data, int index) { data[index] = std::byte{1}; }
__global__ void two_arrays(unsigned index) {
    int* const first = shared<int[5], struct First>();
    auto& second = shared<int[5], struct Second>();
    second[0] = 0;
    first[index] = 1;
}

TEST(Bounds, OfStaticSharedMemoryAreChecked) {
    EXPECT_NO_THROW(launch(write_static, 2, 1, 0, nullptr, 32));
    expect_out_of_bounds([] { launch(write_static, 2, 1, 0, nullptr, 33); },
                         "shared int[33] Array of 132 bytes was written up to 4 bytes past its end");
    expect_out_of_bounds([] { launch(two_arrays, 1, 1, 0, nullptr, 5); }, "shared int[5] First of 20 bytes");
}

TEST(Bounds, OfDynamicSharedMemoryAreExact) {
    EXPECT_NO_THROW(launch(write_dynamic, 1, 1, 13, nullptr, 12));
    expect_out_of_bounds([] { launch(write_dynamic, 1, 1, 13, nullptr, 13); },
                         "dynamic shared memory of 13 bytes was written up to 1 bytes past its end");
    expect_out_of_bounds([] { launch(write_dynamic, 1, 1, 13, nullptr, -1); }, "1 bytes before its start");
}

TEST(Bounds, OfDeviceMemoryAreExact) {
    const Buffer buffer(7);
    EXPECT_NO_THROW(launch(write_device, 1, 1, 0, nullptr, buffer.data(), 6));
    expect_out_of_bounds([&] { launch(write_device, 1, 1, 0, nullptr, buffer.data(), 7); },
                         "device memory of 7 bytes was written up to 1 bytes past its end");
    expect_out_of_bounds([&] { launch(write_device, 1, 1, 0, nullptr, buffer.data(), -1); }, "before its start");
}

__global__ void fetch_1d(float* out, cudaTextureObject_t texture, int i) { *out = tex1Dfetch<float>(texture, i); }
__global__ void fetch_2d(float* out, cudaTextureObject_t texture, float x, float y) {
    *out = tex2D<float>(texture, x, y);
}

TEST(Bounds, OfTexturesAreChecked) {
    const Buffer data = upload(std::vector<float>(64, 1.0F)), out(sizeof(float));
    const Texture1D<float> line(data.as<float>(), 64);
    EXPECT_NO_THROW(launch(fetch_1d, 1, 1, 0, nullptr, out.as<float>(), line.object(), 63));
    for (const int outside : {-1, 64})
        expect_fault([&] { launch(fetch_1d, 1, 1, 0, nullptr, out.as<float>(), line.object(), outside); },
                     {"fetch_1d", "of a texture of 64 x 1"});
    const Texture2D<float> image(data.as<float>(), 6, 8, 32);
    EXPECT_NO_THROW(launch(fetch_2d, 1, 1, 0, nullptr, out.as<float>(), image.object(), 5.5F, 7.5F));
    expect_fault([&] { launch(fetch_2d, 1, 1, 0, nullptr, out.as<float>(), image.object(), 6.5F, 0.5F); },
                 {"read of element (6,0) of a texture of 6 x 8"});
    expect_fault([&] { launch(fetch_2d, 1, 1, 0, nullptr, out.as<float>(), image.object(), 0.5F, -0.5F); },
                 {"read of element (0,-1)"});
    expect_fault([&] { launch(fetch_1d, 1, 1, 0, nullptr, out.as<float>(), 0, 0); }, {"null texture"});
}

__global__ void spin(int* flag) {
    while (atomicAdd(flag, 0) == 0) {
    }
}

__global__ void hand_over(int* flag, int* out) {
    if (threadIdx.x == 31) atomicExch(flag, 1);
    while (atomicAdd(flag, 0) == 0) {
    }
    out[threadIdx.x] = 1;
}

TEST(SpinWaits, ForWhatNeverComesEnd) {
    const Buffer flag = upload(std::vector<int>{0});
    expect_fault([&] { launch(spin, 1, 2, 0, nullptr, flag.as<int>()); }, {"no thread got anywhere", "spin"});
}

TEST(SpinWaits, OnAnotherThreadOfTheBlockWork) {
    for (const Kind kind : {Kind::forward, Kind::reverse, Kind::interleaved, Kind::shuffled}) {
        const ScopedExecution scope({kind});
        const Buffer flag = upload(std::vector<int>{0}), out(32 * sizeof(int));
        launch(hand_over, 1, 32, 0, nullptr, flag.as<int>(), out.as<int>());
        EXPECT_EQ(download<int>(out), std::vector<int>(32, 1));
    }
}

struct CountsItsLife {
    int* alive;
    explicit CountsItsLife(int* counter) : alive(counter) { ++*alive; }
    ~CountsItsLife() { --*alive; }
    CountsItsLife(const CountsItsLife&) = delete;
    CountsItsLife& operator=(const CountsItsLife&) = delete;
};

__global__ void throw_from_one_thread(int* alive, unsigned thrower) {
    const CountsItsLife here(alive);
    if (threadIdx.x == thrower) throw std::runtime_error("thrown by a thread");
    __syncthreads();
}

TEST(Exceptions, LeaveEveryThreadUnwoundAndTheExecutorUsable) {
    int alive = 0;
    for (const Kind kind : {Kind::forward, Kind::reverse, Kind::shuffled}) {
        const ScopedExecution scope({kind});
        for (int repeat = 0; repeat < 20; ++repeat)
            EXPECT_THROW(launch(throw_from_one_thread, 2, 256, 0, nullptr, &alive, 100), std::runtime_error);
        EXPECT_EQ(alive, 0);
        EXPECT_NO_THROW(launch(throw_from_one_thread, 2, 256, 0, nullptr, &alive, 256));
        EXPECT_FALSE(nondeterminism_of(rotate<true>, 128, 1, 128));
    }
}

__global__ void launch_another() { launch(barrier_in_one_branch, 1, 32, 0, nullptr); }

TEST(Launches, WithTooMuchSharedMemoryAreRefused) {
    expect_refused([] { launch(write_static, 1, 1, 227 * 1024 + 1, nullptr, 0); }, {1}, "cudaErrorInvalidValue");
    expect_fault([] { launch(write_static, 1, 1, 227 * 1024, nullptr, 0); },
                 {"132 bytes of static and 232448 of dynamic shared memory exceed 227 KiB"});
    EXPECT_NO_THROW(launch(write_dynamic, 1, dim3(16, 16, 4), 227 * 1024, nullptr, 0));
}

TEST(Launches, FromWithinAKernelAreRefused) {
    expect_refused([] { launch(launch_another, 1, 1, 0, nullptr); }, {801}, "cudaErrorNotSupported");
    EXPECT_NO_THROW(launch(barrier_in_one_branch, 1, 32, 0, nullptr));
}

__global__ void where(int* out) {
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    atomicAdd(&out[block * threads + thread], static_cast<int>(block * threads + thread) + 1);
}

TEST(Launches, RunEveryThreadOfEveryBlockOnce) {
    std::vector<int> expected(5 * 3 * 2 * 7 * 4 * 2);
    std::iota(expected.begin(), expected.end(), 1);
    for (const Kind kind : {Kind::forward, Kind::reverse, Kind::interleaved, Kind::shuffled})
        for (std::uint64_t seed = 0; seed < 4; ++seed) {
            const ScopedExecution scope({kind, seed});
            EXPECT_EQ(results_of(where, expected.size(), dim3(5, 3, 2), dim3(7, 4, 2)), expected);
        }
}

TEST(Launches, FromSeveralHostThreadsDoNotDisturbEachOther) {
    std::vector<std::optional<std::string>> found(4);
    std::vector<std::thread> threads;
    for (auto& result : found)
        threads.emplace_back([&result] {
            const std::vector<int> expected = results_of(rotate<true>, 128, 1, 128);
            for (int i = 0; i < 20; ++i)
                if (results_of(rotate<true>, 128, 1, 128) != expected) result = "a different result";
        });
    for (std::thread& thread : threads) thread.join();
    for (const auto& result : found) EXPECT_FALSE(result);
}

TEST(Orders, AreTheOnesAskedFor) {
    EXPECT_EQ(ExecutionOrder{Kind::reverse}.text(), "reverse");
    EXPECT_EQ((ExecutionOrder{Kind::shuffled, 7}.text()), "shuffled(7)");
    EXPECT_EQ(host::current_execution().order.kind, Kind::forward);
    {
        const ScopedExecution scope({Kind::reverse}, 0x5A);
        EXPECT_EQ(host::current_execution().order.kind, Kind::reverse);
        EXPECT_EQ(host::current_execution().poison, 0x5A);
    }
    EXPECT_EQ(host::current_execution().order.kind, Kind::forward);
}

/// Drivers take the last two; no variant may depend on them.
TEST(Textures, BeyondTheirMemoryAreRefused) {
    const Buffer data(4096);
    expect_refused([&] { Texture1D<float>(data.as<float>(), 1025); }, {1}, "cudaErrorInvalidValue");
    expect_refused([&] { Texture1D<float>(data.as<float>(), 0); }, {1}, "cudaErrorInvalidValue");
    expect_refused([&] { Texture2D<float>(data.as<float>(), 16, 8, 32); }, {1}, "cudaErrorInvalidValue");
}

TEST(Cub, NeedsAGpu) {
    std::size_t bytes = 0;
    const int* in = nullptr;
    int* out = nullptr;
    expect_refused([&] { check(cub::DeviceRadixSort::SortKeys(nullptr, bytes, in, out, 5), "sort"); }, {801},
                   "needs a real GPU");
    expect_refused([&] { check(cub::DeviceHistogram::HistogramEven(nullptr, bytes, in, out, 257, 0, 256, 5), "bins"); },
                   {801}, "cub::DeviceHistogram");
}

}  // namespace
}  // namespace espalier::device
