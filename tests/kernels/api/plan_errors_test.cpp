// What runs of plans refuse, and what plans ask for: streams, workspace, arrays in the right memory.

#include <algorithm>
#include <array>
#include <vector>

#include "kernels/api/arrays.hpp"
#include "tests/kernels/api/plan_support.hpp"

namespace espalier {
namespace {

/// A plan of everything that the tests below do wrong.
class PlanErrors : public testing::TestWithParam<int> {
protected:
    static constexpr std::int64_t kElements = 4096;

    void check(const Where& where) const {
        SCOPED_TRACE(name(where));
        const DotProductPlan plan = value_of(plan_dot_product(where.device, kElements, {.memory = where.memory}));
        Array<float> a(numbers(kElements, 1), where.memory), b(numbers(kElements, 2), where.memory),
            result(1, where.memory);
        Workspace memory(where.device, std::max<std::size_t>(plan.workspace_bytes(), 4096) + 4096);
        const auto run = [&](std::span<const float> x, std::span<const float> y, float* to,
                             std::span<std::byte> workspace) { return plan.run(x, y, to, nullptr, workspace); };
        expect_ok(run(a.span(), b.span(), result.data(), memory.span()));
        expect_invalid(run(a.span().first(kElements - 1), b.span(), result.data(), memory.span()),
                       "a.size() is 4095, but the plan is for 4096: make another plan");
        expect_invalid(run({static_cast<const float*>(nullptr), kElements}, b.span(), result.data(), memory.span()),
                       "a is null");
        expect_invalid(run(a.span(), b.span(), nullptr, memory.span()), "result is null");
        expect_invalid(run(a.span(), b.span(), b.data(), memory.span()), "result and b overlap");
        expect_invalid(run(a.span(), b.span(), reinterpret_cast<float*>(memory.span().data()), memory.span()),
                       "result and the workspace overlap");
        auto* const odd = reinterpret_cast<const float*>(reinterpret_cast<const std::byte*>(a.data()) + 2);
        expect_invalid(run({odd, kElements}, b.span(), result.data(), memory.span()),
                       "a is not aligned to its elements");
        if (plan.workspace_bytes() > 0) {
            expect_invalid(run(a.span(), b.span(), result.data(), memory.span().first(plan.workspace_bytes() - 1)),
                           "give what its workspace_bytes() says");
            expect_invalid(run(a.span(), b.span(), result.data(), memory.span().subspan(4)),
                           "the workspace is not aligned");
        }
        wait(where.device);
    }
};

TEST_F(PlanErrors, ComeBeforeAnyLaunch) {
    for (const Where& where : places()) check(where);
}

TEST_F(PlanErrors, ArraysOnTheWrongSide) {
    const auto gpu = Device::cuda();
    if (!gpu) GTEST_SKIP() << gpu.error().message;
    Array<float> here(numbers(kElements, 1), Memory::host), there(numbers(kElements, 1), Memory::device);
    Array<float> result_here(1, Memory::host), result_there(1, Memory::device);
    const auto on_device = value_of(plan_dot_product(gpu.value(), kElements, {.memory = Memory::device}));
    const auto on_host = value_of(plan_dot_product(gpu.value(), kElements, {.memory = Memory::host}));
    Workspace memory(gpu.value(), std::max(on_device.workspace_bytes(), on_host.workspace_bytes()));
    if (!device::place_of(here.data()).on_device)  // a GPU may reach all memory of its host
        expect_invalid(on_device.run(here.span(), there.span(), result_there.data(), nullptr, memory.span()),
                       "a is in host memory");
    expect_invalid(on_host.run(here.span(), there.span(), result_here.data(), nullptr, memory.span()),
                   "b is in a GPU's memory, but Options::memory is host");
    std::vector<std::byte> host_workspace(memory.span().size() + kGpuAlignment);
    auto* const aligned = reinterpret_cast<std::byte*>(
        (reinterpret_cast<std::uintptr_t>(host_workspace.data()) + kGpuAlignment - 1) / kGpuAlignment * kGpuAlignment);
    if (!memory.span().empty() && !device::place_of(aligned).on_device)
        expect_invalid(
            on_host.run(here.span(), here.span(), result_here.data(), nullptr, {aligned, memory.span().size()}),
            "the workspace is in host memory");
    // The one-shot functions look, too.
    if (!device::place_of(here.data()).on_device)
        expect_invalid(dot_product(gpu.value(), here.data(), there.data(), kElements, result_there.data(),
                                   {.memory = Memory::device}),
                       "a is in host memory");
}

TEST_F(PlanErrors, MisalignedArraysNeedRoomForACopy) {
    const auto gpu = Device::cuda();
    if (!gpu) GTEST_SKIP() << gpu.error().message;
    constexpr ImageShape kShape{64, 64, 1};
    Filter5x5 filter{};
    filter[12] = 1;
    const auto plan = value_of(plan_convolve_2d(gpu.value(), kShape, filter, Border::zero, {.memory = Memory::device}));
    Array<std::uint8_t> image(std::vector<std::uint8_t>(64 * 64 + 16, 9), Memory::device),
        result(64 * 64, Memory::device);
    Workspace exact(plan), larger(gpu.value(), plan.workspace_bytes() + 4096);
    const ConstImage odd{image.data() + 16, kShape};
    if (plan.workspace_bytes() > 0)
        expect_invalid(plan.run(odd, {result.data(), kShape}, nullptr, exact.span()), "not aligned to 512 bytes");
    expect_ok(plan.run(odd, {result.data(), kShape}, nullptr, larger.span()));
    device::synchronize();
    EXPECT_EQ(result.values(), std::vector<std::uint8_t>(64 * 64, 9));
}

TEST(PlanOptions, AStreamBelongsToTheRun) {
    Stream not_null = reinterpret_cast<Stream>(0x1000);
    for (const Device& device : usable_devices()) {
        const auto plan = plan_dot_product(device, 10, {.stream = not_null});
        ASSERT_FALSE(plan);
        EXPECT_NE(plan.error().message.find("pass Options::stream to its run"), std::string::npos);
    }
    const float one = 1;
    float result = 0;
    const auto plan = value_of(plan_dot_product(Device::cpu(), 1));
    Workspace workspace(plan);
    expect_invalid(plan.run({&one, 1}, {&one, 1}, &result, not_null, workspace.span()), "null for the CPU");
}

TEST(PlanOptions, AVariantThatWaitsIsRefused) {
    const auto gpu = Device::cuda();
    if (!gpu) GTEST_SKIP() << gpu.error().message;
    const auto plan = plan_dot_product(gpu.value(), 1000, {.memory = Memory::device, .variant = "host_finish"});
    ASSERT_FALSE(plan);
    if (plan.error().code == ErrorCode::unknown_variant) GTEST_SKIP() << "not linked: " << plan.error().message;
    EXPECT_EQ(plan.error().code, ErrorCode::unsupported);
    EXPECT_NE(plan.error().message.find("no plan can have it: the host adds up"), std::string::npos)
        << plan.error().message;
}

TEST(PlanOptions, ThePlanSaysHowMuchMemoryItTakes) {
    for (const Where& where : places()) {
        const auto plan = value_of(plan_select_smallest_k(where.device, {1000, 1000, 5}, {.memory = where.memory}));
        const std::size_t staged = where.device.is_cuda() && where.memory == Memory::host ? 4'000'000 : 0;
        EXPECT_GE(plan.workspace_bytes(), value_of(plan.explain()).workspace_bytes + staged) << name(where);
    }
}

/// An output that is on the host whatever the options say comes back to the host.
TEST(PlanArrays, ComeBackToWhereTheyAre) {
    const auto gpu = Device::cuda(0);
    if (!gpu) GTEST_SKIP() << gpu.error().message;
    const Transport transport{&state_of(gpu.value()), Memory::device};
    ArraySpec spec = output_of<std::int32_t>("result", 4);
    spec.on_host = true;
    device::Buffer computed(spec.bytes());
    const std::array<std::int32_t, 4> values{4, 3, 2, 1};
    device::copy_to_device(computed.data(), values.data(), spec.bytes());
    std::array<std::int32_t, 4> wanted{};
    const std::array specs{spec};
    const std::array<void*, 1> from{computed.data()}, to{wanted.data()};
    bring_back(transport, specs, from, to, nullptr);
    device::synchronize();
    EXPECT_EQ(wanted, values);
}

}  // namespace
}  // namespace espalier
