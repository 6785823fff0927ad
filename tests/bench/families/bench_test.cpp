// What a variant gets to run in when it is measured.

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "harness/bench/families/family_of.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/problems/synthetic.hpp"

namespace espalier::bench {
namespace {

using ::espalier::synthetic::Problem;

std::vector<std::size_t> seen;  ///< bytes of workspace of every run

class Nothing final : public Workload<Problem> {
public:
    std::vector<std::span<const std::byte>> inputs() const override { return {}; }
    std::vector<std::size_t> output_bytes() const override { return {}; }
    Problem::Buffers bind(std::span<const std::byte* const>, std::span<std::byte* const>) const override { return {}; }
    Mismatch check(std::span<const std::span<const std::byte>>, const Tolerance&) override { return {}; }
    void refresh(std::uint64_t) override {}
};

Variant<Problem> with_budget(std::string_view name) {
    return {.role = Role::baseline,
            .space = {{"bytes", {100, 5000, 0}}},
            .supports = [](const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); },
            .workspace = [](const Problem&, const Configuration& configuration,
                            const DeviceInfo&) { return static_cast<std::size_t>(configuration["bytes"]); },
            .run = [](Context& context, const Problem&, const Problem::Buffers&,
                      const Configuration&) { seen.push_back(context.workspace.size()); },
            .name = name};
}

/// The memory is shared, and grows to the largest; a pipeline that cuts its work to what fits would otherwise run with
/// another candidate's budget, and its times would be those of a choice that nobody gets.
TEST(Bench, GivesEveryCandidateTheWorkspaceThatItAskedFor) {
    const std::vector<Registered<Problem>> registry{{with_budget("one"), DeviceKind::cpu, false, 0, "", ""}};
    const Suite<Problem> suite{
        .workload = [](const Problem&, std::uint64_t, Pattern) -> std::unique_ptr<Workload<Problem>> {
            return std::make_unique<Nothing>();
        }};
    const FamilyOf<Problem> family("one", registry, suite);
    const auto bench = family.bench(problem_key(Problem{}), 1, Pattern::uniform, device::describe_cpu());
    const auto configurations = registry[0].variant.space.enumerate();
    for (int round = 0; round < 2; ++round)
        for (const Configuration& configuration : configurations) bench->run(0, configuration);
    EXPECT_EQ(seen, (std::vector<std::size_t>{100, 5000, 0, 100, 5000, 0}));
}

/// What was right in any order says nothing of a variant that promises one; the other way round it does.
TEST(Bench, OutputsThatMayBeInAnyOrderAreNoReferenceForOrderedOnes) {
    const std::vector<Registered<Problem>> registry{{with_budget("one"), DeviceKind::cpu, false, 0, "", ""}};
    const Suite<Problem> suite{
        .workload = [](const Problem&, std::uint64_t, Pattern) -> std::unique_ptr<Workload<Problem>> {
            return std::make_unique<Nothing>();
        }};
    const FamilyOf<Problem> family("one", registry, suite);
    const Tolerance ordered, any_order{.any_order = true};
    const Tolerance wide_in_any_order{.absolute = 1, .any_order = true};
    for (const auto& [kept, asked, is_one] : {std::tuple(ordered, ordered, true),
                                              {ordered, any_order, true},
                                              {any_order, any_order, true},
                                              {any_order, ordered, false},
                                              {any_order, wide_in_any_order, true},
                                              {wide_in_any_order, any_order, false}}) {
        const auto bench = family.bench(problem_key(Problem{}), 1, Pattern::uniform, device::describe_cpu());
        bench->keep_outputs(kept);
        EXPECT_EQ(bench->outputs_are_kept(asked), is_one) << kept.any_order << asked.any_order;
    }
}

}  // namespace
}  // namespace espalier::bench
