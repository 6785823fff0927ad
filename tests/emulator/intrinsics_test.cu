// Every intrinsic that kernels may use, against what CUDA documents of it. Built twice: with the host
// executor, and by nvcc to see that the hardware agrees. (The checks are free functions because nvcc
// allows no device lambda in a private member function, which is what TEST makes.)

#include <cmath>
#include <limits>
#include <numeric>

#include "device/byte_dots.hpp"
#include "device/texture.hpp"
#include "tests/support/kernel_support.hpp"

namespace espalier::device {
namespace {

constexpr unsigned kAll = 0xffffffff;

const testing::Environment* const environment = testing::AddGlobalTestEnvironment(new NeedsDevice);

template <class T, class Body>
__global__ void evaluate(T* out, Body body) {
    out[threadIdx.x] = body();
}

/// What `body` returns in each thread of one block.
template <class T = int, class Body>
std::vector<T> in_each_thread(unsigned threads, Body body) {
    return results_of<T, Body>(evaluate<T, Body>, threads, 1, threads, body);
}
template <class T, class Body>
T in_one_thread(Body body) {
    return in_each_thread<T>(1, body)[0];
}

/// function(0), function(1), ... as expected of so many threads.
template <class T = int, class Function>
std::vector<T> by_thread(unsigned threads, Function function) {
    std::vector<T> values;
    for (unsigned i = 0; i < threads; ++i) values.push_back(function(static_cast<int>(i)));
    return values;
}

__device__ int thread() { return static_cast<int>(threadIdx.x); }
__device__ int lane() { return thread() % 32; }

void check_shuffle() {
    EXPECT_EQ(in_each_thread(64, [] __device__() { return __shfl_sync(kAll, thread(), 5); }),
              by_thread(64, [](int i) { return i / 32 * 32 + 5; }));
    EXPECT_EQ(in_each_thread(32, [] __device__() { return __shfl_sync(kAll, lane(), lane() + 1); }),
              by_thread(32, [](int i) { return (i + 1) % 32; }));
    EXPECT_EQ(in_each_thread(32, [] __device__() { return __shfl_sync(kAll, lane(), 3, 8); }),
              by_thread(32, [](int i) { return i / 8 * 8 + 3; }));
}
TEST(Shuffles, ReadTheNamedLane) { check_shuffle(); }

void check_shuffle_up_and_down() {
    EXPECT_EQ(in_each_thread(32, [] __device__() { return __shfl_up_sync(kAll, lane(), 3); }),
              by_thread(32, [](int i) { return i < 3 ? i : i - 3; }));
    EXPECT_EQ(in_each_thread(32, [] __device__() { return __shfl_down_sync(kAll, lane(), 3); }),
              by_thread(32, [](int i) { return i + 3 > 31 ? i : i + 3; }));
    EXPECT_EQ(in_each_thread(32, [] __device__() { return __shfl_up_sync(kAll, lane(), 3, 8); }),
              by_thread(32, [](int i) { return i % 8 < 3 ? i : i - 3; }));
    EXPECT_EQ(in_each_thread(32, [] __device__() { return __shfl_down_sync(kAll, lane(), 3, 8); }),
              by_thread(32, [](int i) { return i % 8 + 3 > 7 ? i : i + 3; }));
}
TEST(Shuffles, UpAndDownStopAtTheEndsOfTheirSegment) { check_shuffle_up_and_down(); }

void check_shuffle_xor() {
    EXPECT_EQ(in_each_thread(32, [] __device__() { return __shfl_xor_sync(kAll, lane(), 5); }),
              by_thread(32, [](int i) { return i ^ 5; }));
    // In segments of 8, a partner in a later segment is not read and one in an earlier segment is.
    EXPECT_EQ(in_each_thread(32, [] __device__() { return __shfl_xor_sync(kAll, lane(), 8, 8); }),
              by_thread(32, [](int i) { return (i ^ 8) < i ? i ^ 8 : i; }));
}
TEST(Shuffles, XorPairsLanes) { check_shuffle_xor(); }

template <class T>
__global__ void total_of_warp(T* out, T scale) {
    T value = static_cast<T>(lane()) * scale;
    for (unsigned offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(kAll, value, offset);
    out[threadIdx.x] = __shfl_sync(kAll, value, 0);
}
template <class T>
void check_total(T scale) {
    EXPECT_EQ((results_of<T, T>(total_of_warp<T>, 32, 1, 32, scale)), std::vector<T>(32, 496 * scale));
}
TEST(Shuffles, CarryEveryType) {
    check_total(1);
    check_total(1U);
    check_total(0.5F);
    check_total(0.25);
    check_total(1LL << 40);
    check_total(1ULL << 40);
}

void check_halves() {
    const auto sums = in_each_thread(32, [] __device__() {
        const unsigned half = lane() < 16 ? 0x0000ffff : 0xffff0000;
        int sum = lane();
        for (int offset = 8; offset > 0; offset /= 2) sum += __shfl_xor_sync(half, sum, offset);
        return sum;
    });
    EXPECT_EQ(sums, by_thread(32, [](int i) { return i < 16 ? 120 : 376; }));
}
TEST(Shuffles, OfPartsOfAWarpAreIndependent) { check_halves(); }

void check_votes() {
    EXPECT_EQ(in_each_thread<unsigned>(32, [] __device__() { return __ballot_sync(kAll, lane() % 3 == 0); }),
              std::vector<unsigned>(32, 0x49249249));
    EXPECT_EQ(in_each_thread(64, [] __device__() { return __any_sync(kAll, thread() == 40); }),
              by_thread(64, [](int i) { return i >= 32 ? 1 : 0; }));
    EXPECT_EQ(in_each_thread(64, [] __device__() { return __all_sync(kAll, thread() != 40); }),
              by_thread(64, [](int i) { return i < 32 ? 1 : 0; }));
    EXPECT_EQ(in_each_thread<unsigned>(32, [] __device__() { return __activemask() & 1U << lane(); }),
              by_thread<unsigned>(32, [](int i) { return 1U << i; }));
}
TEST(Votes, CountTheLanesOfTheMask) { check_votes(); }

void check_matches() {
    EXPECT_EQ(in_each_thread<unsigned>(32, [] __device__() { return __match_any_sync(kAll, lane() % 2); }),
              by_thread<unsigned>(32, [](int i) { return i % 2 == 0 ? 0x55555555U : 0xaaaaaaaaU; }));
    EXPECT_EQ(in_each_thread<unsigned>(32,
                                       [] __device__() {
                                           int all = -1;
                                           const unsigned same = __match_all_sync(kAll, lane() / 32, &all);
                                           return all == 1 ? same : 0U;
                                       }),
              std::vector<unsigned>(32, kAll));
    EXPECT_EQ(in_each_thread<unsigned>(32,
                                       [] __device__() {
                                           int all = -1;
                                           const unsigned same = __match_all_sync(kAll, lane() / 31, &all);
                                           return all == 0 ? same : 1U;
                                       }),
              std::vector<unsigned>(32, 0));
}
TEST(Votes, MatchFindsEqualValues) { check_matches(); }

void check_reductions() {
    EXPECT_EQ(in_each_thread(32, [] __device__() { return __reduce_add_sync(kAll, lane() - 16); }),
              std::vector<int>(32, -16));
    EXPECT_EQ(in_each_thread(32, [] __device__() { return __reduce_min_sync(kAll, lane() - 16); }),
              std::vector<int>(32, -16));
    EXPECT_EQ(in_each_thread(32, [] __device__() { return __reduce_max_sync(kAll, lane() - 16); }),
              std::vector<int>(32, 15));
    EXPECT_EQ(in_each_thread<unsigned>(32, [] __device__() { return __reduce_add_sync(kAll, threadIdx.x + 1); }),
              std::vector<unsigned>(32, 528));
    EXPECT_EQ(in_each_thread<unsigned>(32, [] __device__() { return __reduce_min_sync(kAll, threadIdx.x - 1); }),
              std::vector<unsigned>(32, 0));
    EXPECT_EQ(in_each_thread<unsigned>(32, [] __device__() { return __reduce_max_sync(kAll, threadIdx.x - 1); }),
              std::vector<unsigned>(32, kAll));
    EXPECT_EQ(in_each_thread<unsigned>(32, [] __device__() { return __reduce_and_sync(kAll, threadIdx.x | 64); }),
              std::vector<unsigned>(32, 64));
    EXPECT_EQ(in_each_thread<unsigned>(32, [] __device__() { return __reduce_or_sync(kAll, threadIdx.x + 1); }),
              std::vector<unsigned>(32, 63));
    EXPECT_EQ(in_each_thread<unsigned>(32, [] __device__() { return __reduce_xor_sync(kAll, threadIdx.x + 1); }),
              std::vector<unsigned>(32, 32));
}
TEST(WarpReductions, Reduce) { check_reductions(); }

void check_barriers() {
    EXPECT_EQ(in_each_thread(100, [] __device__() { return __syncthreads_count(thread() % 3 == 0); }),
              std::vector<int>(100, 34));
    EXPECT_EQ(in_each_thread(100, [] __device__() { return __syncthreads_or(thread() == 99) != 0 ? 1 : 0; }),
              std::vector<int>(100, 1));
    EXPECT_EQ(in_each_thread(100, [] __device__() { return __syncthreads_or(0); }), std::vector<int>(100, 0));
    EXPECT_EQ(in_each_thread(100, [] __device__() { return __syncthreads_and(thread() != 99); }),
              std::vector<int>(100, 0));
    EXPECT_EQ(in_each_thread(100, [] __device__() { return __syncthreads_and(5) != 0 ? 1 : 0; }),
              std::vector<int>(100, 1));
}
TEST(Barriers, CountPredicates) { check_barriers(); }

template <class T, class Change>
__global__ void change_all(T* value, Change change) {
    change(value, static_cast<int>(blockIdx.x * 32 + threadIdx.x));
}

/// One value after each of 64 threads has changed it.
template <class T, class Change>
T after_64(T start, Change change) {
    const Buffer value = upload(std::vector<T>{start});
    launch(change_all<T, Change>, 2, 32, 0, nullptr, value.as<T>(), change);
    return download<T>(value)[0];
}

void check_atomic_sums() {
    EXPECT_EQ(after_64(5, [] __device__(int* v, int) { atomicAdd(v, -1); }), -59);
    EXPECT_EQ(after_64(5U, [] __device__(unsigned* v, int) { atomicAdd(v, 2); }), 133U);
    EXPECT_EQ(after_64(5ULL, [] __device__(unsigned long long* v, int) { atomicAdd(v, 1ULL << 40); }),
              5 + (1ULL << 46));
    EXPECT_EQ(after_64(0.5F, [] __device__(float* v, int) { atomicAdd(v, 0.25F); }), 16.5F);
    EXPECT_EQ(after_64(0.5, [] __device__(double* v, int) { atomicAdd(v, 0.25); }), 16.5);
    EXPECT_EQ(after_64(5, [] __device__(int* v, int) { atomicSub(v, 2); }), -123);
    EXPECT_EQ(after_64(std::numeric_limits<int>::max(), [] __device__(int* v, int) { atomicAdd(v, 1); }),
              std::numeric_limits<int>::min() + 63);
}
TEST(Atomics, Add) { check_atomic_sums(); }

void check_other_atomics() {
    EXPECT_EQ(after_64(0, [] __device__(int* v, int i) { atomicMax(v, i); }), 63);
    EXPECT_EQ(after_64(0, [] __device__(int* v, int i) { atomicMin(v, -i); }), -63);
    EXPECT_EQ(after_64(0U, [] __device__(unsigned* v, int i) { atomicMax(v, static_cast<unsigned>(i)); }), 63U);
    EXPECT_EQ(after_64(-1LL, [] __device__(long long* v, int i) { atomicMax(v, i); }), 63LL);
    EXPECT_EQ(after_64(0U, [] __device__(unsigned* v, int i) { atomicOr(v, 1U << i % 8); }), 255U);
    EXPECT_EQ(after_64(kAll, [] __device__(unsigned* v, int i) { atomicAnd(v, ~(1U << i % 8)); }), kAll - 255);
    EXPECT_EQ(after_64(0U, [] __device__(unsigned* v, int) { atomicXor(v, 3); }), 0U);
    EXPECT_EQ(after_64(0U, [] __device__(unsigned* v, int) { atomicInc(v, 9); }), 4U);
    EXPECT_EQ(after_64(3U, [] __device__(unsigned* v, int) { atomicDec(v, 9); }), 9U);
    EXPECT_EQ(after_64(0.0F, [] __device__(float* v, int) { atomicExch(v, 2.5F); }), 2.5F);
    EXPECT_EQ(after_64(0,
                       [] __device__(int* v, int) {
                           for (int seen = 0, expected = 1; seen != expected;) {
                               expected = seen;
                               seen = atomicCAS(v, expected, expected + 3);
                           }
                       }),
              192);
}
TEST(Atomics, TheRest) { check_other_atomics(); }

void check_bits() {
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __popc(0xf0f0U); }), 8);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __popcll(0xffULL << 40); }), 8);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __clz(1); }), 31);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __clz(0); }), 32);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __clzll(1); }), 63);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __ffs(0); }), 0);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __ffs(8); }), 4);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __ffsll(1LL << 40); }), 41);
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __brev(0x12345678U); }), 0x1e6a2c48U);
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __byte_perm(0x33221100U, 0x77665544U, 0x7531U); }),
              0x77553311U);
    // The highest bit of a selector says nothing here, unlike in PTX's prmt.
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __byte_perm(0x80402010U, 0x000000ffU, 0x80c3U); }),
              0x1010ff80U);
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __funnelshift_l(0x80000000U, 1U, 1); }), 3U);
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __funnelshift_r(0x80000000U, 1U, 31); }), 3U);
}
TEST(Bits, AreCountedAndMoved) { check_bits(); }

void check_products() {
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __umulhi(kAll, kAll); }), 0xfffffffeU);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __mulhi(-1, 5); }), -1);
    EXPECT_EQ(in_one_thread<unsigned long long>([] __device__() { return __umul64hi(~0ULL, ~0ULL); }), ~1ULL);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __mul24(-3, 0x01000002); }), -6);
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __usad(3U, 8U, 1U); }), 6U);
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __sad(-3, 8, 1U); }), 12U);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __dp4a(static_cast<int>(0xff02fe03), 0x01020304, 10); }),
              10 - 1 + 4 - 6 + 12);
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __dp4a(0xff02fe03U, 0x01020304U, 10U); }),
              10U + 255 + 4 + 762 + 12);
}
TEST(Bits, Products) { check_products(); }

void check_byte_dots() {
    // Bytes without their sign, coefficients with theirs.
    EXPECT_EQ(in_one_thread<int>([] __device__() { return dot_u8_s8(0xff02fe03U, 0x0180ff7fU, 10); }),
              10 + 3 * 127 - 254 - 2 * 128 + 255);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return dot_low_u8_s16(0xff02fe03U, 0x80007fffU, 10); }),
              10 + 3 * 32767 - 254 * 32768);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return dot_high_u8_s16(0xff02fe03U, 0x80007fffU, 10); }),
              10 + 2 * 32767 - 255 * 32768);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return dot_u8_s8(1U, 1U, std::numeric_limits<int>::max()); }),
              std::numeric_limits<int>::min());
}
TEST(Bits, DotsOfBytes) { check_byte_dots(); }

void check_conversions() {
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __float2int_rn(2.5F); }), 2);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __float2int_rn(-1.5F); }), -2);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __float2int_rz(-1.9F); }), -1);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __float2int_rd(-1.1F); }), -2);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __float2int_ru(1.1F); }), 2);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __float2int_rn(3e9F); }), std::numeric_limits<int>::max());
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __float2int_rn(-3e9F); }), std::numeric_limits<int>::min());
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __float2int_rn(-2147483648.0F); }),
              std::numeric_limits<int>::min());
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __float2int_rn(NAN); }), 0);
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __float2uint_rn(-3.0F); }), 0U);
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __float2uint_rn(4294967040.0F); }), 4294967040U);
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __float2uint_rn(5e9F); }), kAll);
    EXPECT_EQ(in_one_thread<long long>([] __device__() { return __float2ll_rn(1e30F); }),
              std::numeric_limits<long long>::max());
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __double2int_rn(0.5); }), 0);
}
TEST(Arithmetic, ConvertsAndSaturates) { check_conversions(); }

void check_bit_casts() {
    EXPECT_EQ(in_one_thread<float>([] __device__() { return __int_as_float(0x3f800000); }), 1.0F);
    EXPECT_EQ(in_one_thread<int>([] __device__() { return __float_as_int(-1.0F); }), static_cast<int>(0xbf800000));
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return __float_as_uint(-1.0F); }), 0xbf800000U);
    EXPECT_EQ(in_one_thread<float>([] __device__() { return __uint_as_float(0x7f800000U); }), INFINITY);
    EXPECT_EQ(in_one_thread<double>([] __device__() { return __longlong_as_double(__double_as_longlong(-2.5)); }),
              -2.5);
}
TEST(Arithmetic, CastsBits) { check_bit_casts(); }

void check_rounding() {
    const auto product_and_fma = in_each_thread<float>(2, [] __device__() {
        const float a = 1.0F + 0x1p-12F;
        return thread() == 0 ? __fmul_rn(a, a) : __fmaf_rn(a, a, -(1.0F + 0x1p-11F));
    });
    EXPECT_EQ(product_and_fma, (std::vector<float>{1.0F + 0x1p-11F, 0x1p-24F}));
    EXPECT_EQ(in_one_thread<float>([] __device__() { return __fsqrt_rn(2.25F); }), 1.5F);
    EXPECT_EQ(in_one_thread<float>([] __device__() { return rsqrtf(4.0F); }), 0.5F);
    EXPECT_EQ(in_one_thread<float>([] __device__() { return rsqrtf(0.0F); }), INFINITY);
    EXPECT_EQ(in_one_thread<float>([] __device__() { return __saturatef(1.5F); }), 1.0F);
    EXPECT_EQ(in_one_thread<float>([] __device__() { return __saturatef(-0.5F); }), 0.0F);
    EXPECT_EQ(in_one_thread<float>([] __device__() { return __saturatef(NAN); }), 0.0F);
}
TEST(Arithmetic, RoundsOnce) { check_rounding(); }

void check_min_and_max() {
    EXPECT_EQ(in_one_thread<int>([] __device__() { return min(3, 5); }), 3);
    EXPECT_EQ(in_one_thread<unsigned>([] __device__() { return max(3U, 5U); }), 5U);
    EXPECT_EQ(in_one_thread<float>([] __device__() { return min(NAN, 2.0F); }), 2.0F);
    EXPECT_EQ(in_one_thread<float>([] __device__() { return fmaxf(1.0F, NAN); }), 1.0F);
    EXPECT_EQ(in_one_thread<long long>([] __device__() { return max(1LL << 40, 5LL); }), 1LL << 40);
}
TEST(Arithmetic, MinAndMax) { check_min_and_max(); }

TEST(VectorTypes, HaveCudasSizesAndAlignments) {
    static_assert(sizeof(float2) == 8 && alignof(float2) == 8);
    static_assert(sizeof(float3) == 12 && alignof(float3) == 4);
    static_assert(sizeof(float4) == 16 && alignof(float4) == 16);
    static_assert(sizeof(uchar4) == 4 && alignof(uchar4) == 4);
    static_assert(sizeof(double2) == 16 && alignof(double2) == 16);
    static_assert(sizeof(short2) == 4 && sizeof(uint3) == 12 && sizeof(dim3) == 12);
    EXPECT_EQ(make_float4(1, 2, 3, 4).w, 4);
    EXPECT_EQ(make_uint3(1, 2, 3).z, 3U);
    EXPECT_EQ(make_uchar4(1, 2, 3, 255).w, 255);
}

template <class T>
__global__ void fill_dynamic(T* out) {
    T* const values = dynamic_shared<T>();
    auto& last = shared<T, struct Last>();
    values[threadIdx.x] = static_cast<T>(threadIdx.x);
    if (threadIdx.x == blockDim.x - 1) last = static_cast<T>(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x] + last;
}

TEST(SharedMemory, IsOneArrayPerTagAndLaunch) {
    const Buffer out(256 * sizeof(float));
    launch(fill_dynamic<float>, 1, 256, 256 * sizeof(float), nullptr, out.as<float>());
    EXPECT_EQ(download<float>(out), by_thread<float>(256, [](int i) { return static_cast<float>(510 - i); }));
    // More than the default 48 KiB.
    launch(fill_dynamic<int>, 1, 256, 200 * 1024, nullptr, out.as<int>());
    EXPECT_EQ(download<int>(out), by_thread(256, [](int i) { return 510 - i; }));
    expect_refused([&] { launch(fill_dynamic<int>, 1, 256, 228 * 1024, nullptr, out.as<int>()); }, {1},
                   "cudaErrorInvalidValue");
    EXPECT_NO_THROW(launch(fill_dynamic<int>, 1, 256, 1024, nullptr, out.as<int>())) << "blamed for the one before";
    synchronize();
}

/// Uses 32 KiB of its own beside what the launch gives it.
__global__ void fill_both(int* out) {
    auto& own = shared<int[8192], struct Own>();
    int* const given = dynamic_shared<int>();
    for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x) own[i] = given[i] = static_cast<int>(i);
    __syncthreads();
    out[threadIdx.x] = own[8191 - threadIdx.x] + given[threadIdx.x];
}

TEST(SharedMemory, StaticAndDynamicTogetherMayExceedTheDefault) {
    const Buffer out(256 * sizeof(int));
    launch(fill_both, 1, 256, 32 * 1024, nullptr, out.as<int>());
    EXPECT_EQ(download<int>(out), by_thread(256, [](int) { return 8191; }));
}

__global__ void do_nothing() {}

TEST(Launches, BeyondTheLimitsAreRefused) {
    const auto refused = [](dim3 grid, dim3 block) {
        // Which of the two codes it is depends on the driver.
        expect_refused([=] { launch(do_nothing, grid, block, 0, nullptr); }, {1, 9}, "(cudaErrorInvalid");
    };
    refused(1, 1025);
    refused(1, dim3(32, 33));
    refused(1, dim3(1, 1, 65));
    refused(1, 0);
    refused(0, 1);
    refused(dim3(1, 65536), 1);
    refused(dim3(1, 1, 65536), 1);
    refused(0x80000000U, 1);
    EXPECT_NO_THROW(launch(do_nothing, dim3(1, 65535), dim3(1, 1, 64), 0, nullptr));
    synchronize();
}

__constant__ int table[4];

void check_constant_memory() {
    const int values[] = {2, 3, 5, 7};
    copy_to_constant(table, values, sizeof values, nullptr);
    EXPECT_EQ(in_each_thread(8, [] __device__() { return table[threadIdx.x % 4]; }),
              by_thread(8, [&](int i) { return values[i % 4]; }));
    expect_refused([&] { copy_to_constant(table, values, sizeof values + 1, nullptr); }, {1}, "cudaErrorInvalidValue");
}
TEST(ConstantMemory, IsReadByKernels) { check_constant_memory(); }

void check_texture_reads() {
    std::vector<float> values(8 * 32);
    std::iota(values.begin(), values.end(), 0.0F);
    const Buffer data = upload(values);
    const Texture1D<float> line(data.as<float>(), 256);
    EXPECT_EQ(in_each_thread<float>(256, [t = line.object()] __device__() { return tex1Dfetch<float>(t, thread()); }),
              values);
    const Texture1D<float4> quads(data.as<float4>(), 64);
    EXPECT_EQ(in_one_thread<float>([t = quads.object()] __device__() { return tex1Dfetch<float4>(t, 63).z; }), 254.0F);
    const Texture2D<float> image(data.as<float>(), 30, 8, 32 * sizeof(float));
    EXPECT_EQ(in_one_thread<float>([t = image.object()] __device__() { return tex2D<float>(t, 29.5F, 7.5F); }), 253.0F);
    // Point sampling takes the element that the coordinate lies in.
    EXPECT_EQ(in_one_thread<float>([t = image.object()] __device__() { return tex2D<float>(t, 3.75F, 2.0F); }), 67.0F);
}
TEST(Textures, ReadElements) { check_texture_reads(); }

/// By the driver; the host executor refuses more: textures without elements and rows that overlap.
TEST(Textures, AreRefused) {
    const Buffer data(4096);
    const auto refused = [](const char* what, auto make) {
        SCOPED_TRACE(what);
        expect_refused(make, {1}, "cudaErrorInvalidValue");
    };
    refused("misaligned", [&] { Texture1D<float>(data.as<float>() + 1, 8); });
    refused("no memory", [&] { Texture1D<float>(nullptr, 8); });
    refused("misaligned pitch", [&] { Texture2D<float>(data.as<float>(), 8, 8, 40); });
    refused("too high", [&] { Texture2D<float>(data.as<float>(), 1, 65001, 32); });
    EXPECT_NO_THROW(Texture2D<float>(data.as<float>(), 8, 128, 32));
}

}  // namespace
}  // namespace espalier::device
