// Every CPU variant that calls itself deterministic gives equal bits on any number of threads, whether OpenMP delivers
// them or not; and what says that it is the same as another configuration is.

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "kernels/core/registry.hpp"
#include "kernels/device/host_cpu.hpp"
#include "kernels/device/threads.hpp"
#include "tests/variants/variant_parameter.hpp"

namespace espalier::bench {
namespace {

std::vector<VariantParameter> cpu_variants() {
    std::vector<VariantParameter> all;
    for (const Family* family : families())
        for (std::size_t v = 0; v < family->variants().size(); ++v)
            if (family->variants()[v].kind == DeviceKind::cpu) all.push_back({family, v});
    return all;
}

DeviceInfo cpu_of(int threads) {
    DeviceInfo cpu = device::describe_cpu();
    cpu.threads = threads;
    return cpu;
}

/// Beside the edge cases: large enough that work is dealt to threads in every way that a variant has.
std::vector<EdgeCase> problems_of(const Family& family) {
    static const std::map<std::string_view, std::vector<std::string>> large{
        {"dot", {"elements=65536", "elements=1000003"}},
        {"histogram", {"bytes=1000003"}},
        {"convolution_2d", {"width=331;height=257;channels=3;coefficients=float32", "width=331;height=257;channels=3"}},
        {"distance", {"queries=301;points=513;dims=17", "queries=301;points=513;dims=17;metric=cosine"}},
        {"smallest_k",
         {"rows=3;columns=200003;k=40;layout=row_major", "rows=300;columns=3001;k=17", "rows=1;columns=300007;k=5"}},
        {"knn", {"queries=700;points=3001;dims=9;k=7", "queries=5;points=70001;dims=5;k=3"}},
        {"coherent_sum",
         {"sources=33;receivers=17;samples=5003", "sources=3;receivers=17;samples=9001;output=maximum"}},
    };
    std::vector<EdgeCase> edges = family.edge_cases(), chosen;
    // Every other one, so that all patterns are among them.
    for (std::size_t i = 0; i < edges.size(); i += 1 + edges.size() / 40) chosen.push_back(edges[i]);
    if (const auto at = large.find(family.name()); at != large.end())
        for (const std::string& problem : at->second) chosen.push_back({problem, Pattern::uniform});
    return chosen;
}

using Outputs = std::vector<std::vector<std::byte>>;

Outputs outputs_of(const VariantParameter& parameter, const EdgeCase& edge, const Configuration& configuration,
                   int threads, bool nested = false) {
    const DeviceInfo cpu = cpu_of(threads);
    const auto bench = parameter.family->bench(edge.problem, 7, edge.pattern, cpu);
    bench->poison(0x5A);
    if (!nested) {
        bench->run(parameter.variant, configuration);
    } else {
#pragma omp parallel num_threads(2)
#pragma omp master
        bench->run(parameter.variant, configuration);
    }
    return bench->outputs();
}

class EveryCpuVariant : public testing::TestWithParam<VariantParameter> {
protected:
    void SetUp() override {
        if (!variant().foreign.empty()) GTEST_SKIP() << foreign_reason(variant().foreign);
    }
    [[nodiscard]] const VariantInfo& variant() const { return GetParam().family->variants()[GetParam().variant]; }
    [[nodiscard]] Support supports(const EdgeCase& edge, const Configuration& configuration, int threads) const {
        return GetParam().family->supports(GetParam().variant, edge.problem, configuration, cpu_of(threads));
    }
};

TEST_P(EveryCpuVariant, GivesEqualBitsOnAnyNumberOfThreads) {
    if (!variant().nondeterminism.empty()) GTEST_SKIP() << "equal runs may differ: " << variant().nondeterminism;
    for (const EdgeCase& edge : problems_of(*GetParam().family))
        for (const Configuration& configuration : variant().configurations) {
            if (!supports(edge, configuration, 8)) continue;
            SCOPED_TRACE(edge.problem + " " + configuration.text());
            const Outputs eight = outputs_of(GetParam(), edge, configuration, 8);
            for (const int threads : {1, 2, 3})
                ASSERT_EQ(outputs_of(GetParam(), edge, configuration, threads), eight) << threads << " threads";
            ASSERT_EQ(outputs_of(GetParam(), edge, configuration, 8, true), eight) << "inside of a parallel region";
            omp_set_dynamic(1);
            const Outputs dynamic = outputs_of(GetParam(), edge, configuration, 8);
            omp_set_dynamic(0);
            ASSERT_EQ(dynamic, eight) << "as many threads as OpenMP likes";
        }
}

TEST_P(EveryCpuVariant, IsWhatItSaysThatItIsTheSameAs) {
    std::size_t said = 0;
    for (const EdgeCase& edge : problems_of(*GetParam().family))
        for (const int threads : {1, 8})
            for (const Configuration& configuration : variant().configurations) {
                const Support support = supports(edge, configuration, threads);
                if (support.same_as().empty()) {
                    EXPECT_EQ(support.reason.find("same as"), std::string::npos) << support.reason;
                    continue;
                }
                SCOPED_TRACE(edge.problem + " " + configuration.text() + ": " + support.reason);
                ++said;
                const auto same = configuration.with(support.same_as());
                ASSERT_TRUE(same);
                ASSERT_NE(*same, configuration);
                ASSERT_TRUE(std::ranges::count(variant().configurations, *same));
                if (!supports(edge, *same, threads) || !variant().nondeterminism.empty()) continue;
                ASSERT_EQ(outputs_of(GetParam(), edge, configuration, threads),
                          outputs_of(GetParam(), edge, *same, threads));
            }
    RecordProperty("said", static_cast<int>(said));
}

// A choice that one CPU makes equal to another must not leave the problem to the next variant.
TEST_P(EveryCpuVariant, RunsOnOneCpuWhatItRunsOnEight) {
    for (const EdgeCase& edge : problems_of(*GetParam().family))
        for (const Configuration& configuration : variant().configurations) {
            if (!supports(edge, configuration, 8)) continue;
            const Support one = supports(edge, configuration, 1);
            EXPECT_TRUE(one || !one.same_as().empty()) << edge.problem << " " << configuration.text() << one.reason;
        }
}

INSTANTIATE_TEST_SUITE_P(Variants, EveryCpuVariant, testing::ValuesIn(cpu_variants()), test_name);

// --- how many threads are allowed

class AllowedThreads : public testing::Test {
protected:
    ~AllowedThreads() override {
        omp_set_num_threads(before_);
        omp_set_max_active_levels(levels_);
    }
    const int before_ = omp_get_max_threads(), levels_ = omp_get_max_active_levels();
    const int cpus_ = omp_get_num_procs();
};

TEST_F(AllowedThreads, AreThoseOfOpenMpUpToTheCpus) {
    omp_set_num_threads(1);
    EXPECT_EQ(device::allowed_threads(0, 8), 1);
    omp_set_num_threads(1000);
    EXPECT_EQ(device::allowed_threads(0, 1000), cpus_);
    EXPECT_EQ(device::allowed_threads(0, 1), 1);
}

TEST_F(AllowedThreads, AskedForMayExceedTheCpus) {
    omp_set_num_threads(1);
    EXPECT_EQ(device::allowed_threads(3 * cpus_, cpus_), 3 * cpus_);
    EXPECT_EQ(device::allowed_threads(1, cpus_), 1);
}

TEST_F(AllowedThreads, InsideOfAParallelRegionAreOne) {
    omp_set_max_active_levels(1);
    omp_set_num_threads(2);
    int inside = 0, asked = 0;
#pragma omp parallel num_threads(2)
#pragma omp master
    {
        inside = device::allowed_threads(0, 2);
        asked = device::allowed_threads(5, 2);
    }
    EXPECT_EQ(inside, 1);
    EXPECT_EQ(asked, 1);
}

TEST_F(AllowedThreads, InsideOfARegionThatAllowsNestedOnesAreAsAlways) {
    omp_set_max_active_levels(2);
    int asked = 0;
#pragma omp parallel num_threads(2)
#pragma omp master
    asked = device::allowed_threads(5, 2);
    EXPECT_EQ(asked, 5);
}

TEST_F(AllowedThreads, TeamSizeIsPutBack) {
    omp_set_num_threads(2);
    {
        const device::TeamSize three(3);
        int delivered = 0;
#pragma omp parallel reduction(+ : delivered)
        ++delivered;
        EXPECT_LE(delivered, 3);
        EXPECT_EQ(omp_get_max_threads(), 3);
    }
    EXPECT_EQ(omp_get_max_threads(), 2);
}

}  // namespace
}  // namespace espalier::bench
