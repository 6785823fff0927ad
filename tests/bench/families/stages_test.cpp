// Which variants run as the stages of knn's pipelines: those that are noted, and those that a configuration pins.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/dispatch/choose.hpp"

namespace espalier::bench {
namespace {

class Stages : public testing::Test {
protected:
    /// The stages of one run on the host executor or a GPU.
    std::vector<std::string> of(const std::string& name, const std::string& configuration) const {
        const std::size_t variant = knn_.find(name);
        for (const Configuration& each : with_pinned(knn_.variants()[variant])) {
            if (each.text() != configuration) continue;
            const auto bench = knn_.bench(kProblem, 7, Pattern::uniform, device_);
            (void)bench->take_stages_run();
            bench->run(variant, each);
            device::synchronize();
            EXPECT_EQ(bench->check(variant).description, "") << name << " " << configuration;
            return bench->take_stages_run();
        }
        ADD_FAILURE() << name << " has no configuration " << configuration;
        return {};
    }

    static bool is_of(const std::string& stage, const std::string& family) { return stage.starts_with(family + "/"); }

    static constexpr const char* kProblem = "queries=40;points=50;dims=6;k=3;metric=mixed_euclidean;queries_in=host";
    const DeviceInfo device_ = device::open(0);
    const Family& knn_ = *find_family("knn");
};

TEST_F(Stages, ChosenOnesAreNoted) {
    const auto stages = of("two_stage", "budget_mib=1024");
    ASSERT_EQ(stages.size(), 2U);
    EXPECT_TRUE(is_of(stages[0], "distance")) << stages[0];
    EXPECT_TRUE(is_of(stages[1], "smallest_k")) << stages[1];
}

TEST_F(Stages, PinnedOnesRun) {
    const std::string lists = ";smallest_k.register_insertion=1";
    EXPECT_EQ(of("asynchronous", "chunks=8;distance.shared_load_all=1" + lists),
              (std::vector<std::string>{"distance/shared_load_all", "smallest_k/register_insertion"}));
    EXPECT_EQ(of("two_stage", "budget_mib=1024;distance.texture_1d=1" + lists),
              (std::vector<std::string>{"distance/texture_1d", "smallest_k/register_insertion"}));
}

TEST_F(Stages, PinsEndWithTheirRun) {
    const auto before = of("two_stage", "budget_mib=1024");
    (void)of("two_stage", "budget_mib=1024;distance.texture_1d=1;smallest_k.register_insertion=1");
    EXPECT_EQ(of("two_stage", "budget_mib=1024"), before);
}

TEST_F(Stages, PlacementNamesTheSideThatRan) {
    for (const char* stage : {"distance", "smallest_k"}) {
        const bool distance = std::string(stage) == "distance";
        const auto on_cpu = of("placement", distance ? "gpu_distance=0;gpu_selection=1;gpu_vote=1"
                                                     : "gpu_distance=1;gpu_selection=0;gpu_vote=1");
        ASSERT_EQ(on_cpu.size(), 2U);
        const std::string& name = on_cpu[distance ? 0 : 1];
        const Family& family = *find_family(stage);
        const std::size_t variant = family.find(name.substr(name.find('/') + 1));
        ASSERT_NE(variant, Family::npos) << name;
        EXPECT_EQ(family.variants()[variant].kind, DeviceKind::cpu) << name;
    }
}

TEST_F(Stages, FusedOnesHaveNone) { EXPECT_EQ(of("tile_rank", "tile=256"), std::vector<std::string>{}); }

}  // namespace
}  // namespace espalier::bench
