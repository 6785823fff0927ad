// Whatever a tree was trained on, every problem finds a supported choice in its leaf on every device of the
// kind: those that it was trained on and those that have no tree of their own and borrow it.

#include "harness/bench/learn/feasibility.hpp"

#include <gtest/gtest.h>

#include "harness/bench/train/train.hpp"
#include "tests/support/invented_sweep.hpp"

namespace espalier::bench::learn {
namespace {

class EveryFamily : public testing::TestWithParam<const Family*> {};

TEST_P(EveryFamily, LeavesNoProblemUncovered) {
    const Family& family = *GetParam();
    constexpr int kDraws = 3000;
    for (const DeviceInfo& device : invented_devices()) {
        auto problems = family.default_problems(device.kind, Effort::quick);
        for (const EdgeCase& edge : family.edge_cases()) problems.push_back(family.canonical(edge.problem));
        std::sort(problems.begin(), problems.end());
        problems.erase(std::unique(problems.begin(), problems.end()), problems.end());
        if (problems.size() > 60) problems.resize(60);
        const Evidence evidence = read_evidence(family, device, invented_sweep(family, device, problems, 1));
        const Tree tree = learn(evidence.matrix, evidence.matrix.all());
        for (const DeviceInfo& borrower : invented_devices()) {
            if (borrower.kind != device.kind) continue;
            const auto uncovered = find_uncovered_problem(family, borrower, evidence.matrix, tree, kDraws, 7);
            EXPECT_FALSE(uncovered) << device.key << "'s tree on " << borrower.key << ": " << *uncovered;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Families, EveryFamily, testing::ValuesIn(families().begin(), families().end()),
                         [](const auto& parameter) { return std::string(parameter.param->name()); });

}  // namespace
}  // namespace espalier::bench::learn
