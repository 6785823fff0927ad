#include "harness/bench/tune/choose/pick.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "harness/base/failure.hpp"
#include "harness/bench/tune/language/source_text.hpp"
#include "harness/bench/tune/measure/emulated_source.hpp"
#include "tests/bench/tune/described.hpp"

namespace espalier::bench::tune {
namespace {

Outcome timed(const Configuration& configuration, std::size_t problem, double time_ns) {
    Outcome outcome{.configuration = configuration, .problem = problem};
    outcome.samples_ns = {time_ns};
    outcome.time_ns = time_ns;
    outcome.final = true;
    return outcome;
}

/// Up to 1000 the first configuration is faster, beyond it the last one.
struct TwoKinds {
    TemporaryFolder folder;
    Description description;
    Tuning tuning;

    TwoKinds()
        : description([&] {
              nlohmann::json json = small_description();
              json["KernelSpecification"]["ProblemSize"] = {{10},   {50},   {100},   {500},  {1000},
                                                            {2000}, {5000}, {10000}, {50000}};
              return described(folder, json);
          }()) {
        for (std::size_t p = 0; p < description.sizes.size(); ++p) {
            const bool small = description.sizes[p][0] <= 1000;
            tuning.outcomes.push_back(timed({0, 0}, p, small ? 100 : 300));
            tuning.outcomes.push_back(timed({2, 0}, p, small ? 250 : 100));
        }
    }
};

TEST(Pick, ParsSizesWhereTheFastestChanges) {
    const TwoKinds kinds;
    const Pick pick = learn_pick(kinds.description, kinds.tuning);
    EXPECT_EQ(pick.tree.leaves.size(), 2U);
    EXPECT_DOUBLE_EQ(pick.regret, 1);
    EXPECT_GT(pick.one_regret, 1.3);
}

TEST(Pick, HeaderIsCompleteInCxx17) {
    const TwoKinds kinds;
    const std::string header =
        pick_header(kinds.description, learn_pick(kinds.description, kinds.tuning), "nvidia-h100");
    static_cast<void>(kinds.folder.file("pick.hpp", header));
    const std::string program = kinds.folder.file("use.cpp",
                                                  "#include \"pick.hpp\"\n"
                                                  "static_assert(scale_tuned::pick(20).block_size_x == 32);\n"
                                                  "static_assert(scale_tuned::pick(20000).block_size_x == 128);\n"
                                                  "int main() { return scale_tuned::pick(7).tile == 1 ? 0 : 1; }\n");
    const std::string compiled = kinds.folder / "use";
    EXPECT_EQ(std::system(("c++ -std=c++17 -Wall -Wextra -Werror " + program + " -o " + compiled).c_str()), 0)
        << header;
    EXPECT_EQ(std::system(compiled.c_str()), 0);
}

TEST(Pick, NeedsOneConfigurationThatIsValidEverywhere) {
    TwoKinds kinds;
    kinds.tuning.outcomes[0].invalidity = Invalidity::runtime;
    kinds.tuning.outcomes[3].invalidity = Invalidity::correctness;
    expect_holds(message_of<Failure>([&] { learn_pick(kinds.description, kinds.tuning); }),
                 {"right for every problem"});
}

TEST(EmulatedSource, SharedArraysBecomeTheExecutors) {
    const std::string source = emulated_source(
        "#include <cuda_runtime.h>\n__global__ void k() { // the __shared__ tile;\n  __shared__ float tile[4][W + 1];\n"
        "  extern __shared__ int rest[];\n  __shared__ double sum;\n  /* ; */ __shared__ int a[2], b[3];\n}\n",
        "k.cu", "#define W 8\n", "k");
    expect_holds(source, {"auto& tile = ::espalier::device::shared<float[4][W + 1], struct espalier_shared_0>();",
                          "auto* const rest = ::espalier::device::dynamic_shared<int>();",
                          "auto& sum = ::espalier::device::shared<double, struct espalier_shared_1>();",
                          "__shared__ int a[2], b[3];", "ESPALIER_TUNED_KERNEL((k))"});
    EXPECT_EQ(source.find("cuda_runtime"), std::string::npos);
    EXPECT_EQ(std::ranges::count(source, '\n'), 3 + 7 + 2);  // lines stay where they are
}

TEST(EmulatedSource, KernelsAreFoundByName) {
    const char* source =
        "// __global__ void gone()\n__device__ int helper(int);\n"
        "template <int n>\n__global__ void __launch_bounds__(256) scaled(float* x) { helper(1); }\n";
    EXPECT_TRUE(has_kernel(source, "scaled<4>"));
    EXPECT_FALSE(has_kernel(source, "helper"));
    EXPECT_FALSE(has_kernel(source, "gone"));
    EXPECT_FALSE(has_kernel(source, "scale"));
}

}  // namespace
}  // namespace espalier::bench::tune
