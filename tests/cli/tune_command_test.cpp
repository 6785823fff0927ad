// espalier tune as a user runs it, on the host executor: a few configurations of small problems.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/run_program.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// What a configuration of the value `mode` does: 0 and 1 are right, in the ways of others something is wrong.
constexpr const char* kManyWays = R"(
__constant__ float shift[2];
extern "C" __global__ void add(float* c, const float* a, const float* b, int n) {
    __shared__ float part[block_size_x];
    const int i = blockIdx.x * block_size_x + threadIdx.x;
    part[threadIdx.x] = i < n ? a[i] : 0;
    __syncthreads();
#if mode == 2
    part[0] = undeclared;
#elif mode == 3
    if (i == 0) part[0] += 1;
#elif mode == 4
    if (i == 0) *(volatile int*)nullptr = 1;
#elif mode == 5
    while (*(volatile int*)&n) {}
#elif mode == 6
    if (i == 0) c[n] = 1;
#endif
    if (i < n) c[i] = part[threadIdx.x] + b[i] + shift[1];
}
)";

json many_ways() {
    return json::parse(R"json({
        "ConfigurationSpace": {
            "TuningParameters": [
                {"Name": "block_size_x", "Type": "int", "Values": "[64, 2048]"},
                {"Name": "mode", "Type": "int", "Values": "list(range(7))"}
            ],
            "Conditions": [{"Expression": "block_size_x == 64 or mode == 0", "Parameters": ["block_size_x", "mode"]}]
}
, "KernelSpecification" : {
    "Language": "CUDA", "KernelName": "add", "KernelFile": "add.cu", "ProblemSize": [200],
            "ProblemSizeNames": ["n"], "LocalSize": {"X": "block_size_x"},
            "GlobalSize": {"X": "(n + block_size_x - 1) // block_size_x"},
            "Arguments": [
                {"Name": "c", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": "n"},
                {"Name": "a", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": "n",
                 "FillType": "Random"},
                {"Name": "b", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": "n",
                 "FillType": "Random"},
                {"Name": "shift", "Type": "float", "MemoryType": "Symbol", "Size": 2, "FillType": "Generator",
                 "DataSource": "10 * i"},
                {"Name": "count", "Type": "int32", "MemoryType": "Scalar", "FillValue": "n"}
            ],
            "Oracle": "oracle.py"
}
})json");
}

TEST(TuneCommand, SurvivesWhatConfigurationsDo) {
    const TemporaryFolder folder;
    static_cast<void>(folder.file("add.cu", kManyWays));
    static_cast<void>(folder.file(
        "oracle.py", "def oracle(a, b, n, shift, **_):\n    assert len(a) == n\n    return a + b + shift[1]\n"));
    const std::string description = folder.file("add.json", many_ways().dump()), t4 = folder / "t4.json";
    const Finished run =
        run_espalier(folder, "tune " + description + " -o " + t4 + " --csv " + (folder / "out.csv") + " --records " +
                                 (folder / "records") + " --timeout 5s --seconds 1 --noise 20%");
    EXPECT_EQ(run.code, 0) << run.err;
    expect_holds(run.out, {"8 of 8 configurations tried, 2 valid", "1 compile", "1 constraints", "2 correctness",
                           "1 runtime", "1 timeout", "undeclared", "2048 threads"});
    expect_holds(run.err, {"host executor"});
    std::map<int, std::string> found;
    const json results = json::parse(read_bytes(t4)).at("results");
    for (const json& result : results)
        if (result["configuration"]["block_size_x"] == 64)
            found[result["configuration"]["mode"].get<int>()] = result["invalidity"].get<std::string>();
    EXPECT_EQ(found, (std::map<int, std::string>{{0, "correct"},
                                                 {1, "correct"},
                                                 {2, "compile"},
                                                 {3, "correctness"},
                                                 {4, "runtime"},
                                                 {5, "timeout"},
                                                 {6, "correctness"}}));
    expect_holds(read_bytes(folder / "out.csv"), {"family,variant,role,status", "add,add,documented,ok", "n=200"});
    const Finished exported = run_espalier(folder, "export --results " + (folder / "records") +
                                                       " --device host-executor --output " + (folder / "exported"));
    EXPECT_TRUE(fs::exists(folder / "records/host-executor/add.jsonl"));
    EXPECT_EQ(exported.code, 0) << exported.err;
}

/// An example of this repository with smaller problems and fewer values.
std::string shrunk(const TemporaryFolder& folder, const std::string& name, const std::string& file, const json& values,
                   const json& sizes) {
    const fs::path example = fs::path(ESPALIER_EXAMPLES) / name;
    for (const auto& entry : fs::directory_iterator(example))
        fs::copy_file(entry.path(), folder.path() / entry.path().filename());
    json description = json::parse(read_bytes((example / (file + ".json")).string()));
    for (json& parameter : description["ConfigurationSpace"]["TuningParameters"]) {
        parameter["Values"] = values.at(parameter["Name"].get<std::string>());
        parameter.erase("Default");
    }
    description["KernelSpecification"]["ProblemSize"] = sizes;
    const std::vector<std::string> scalars{"n", "width", "height"};
    for (json& argument : description["KernelSpecification"]["Arguments"])
        if (argument["FillValue"].is_number() && argument["MemoryType"] == "Scalar")
            argument["FillValue"] = argument["Name"] == "height" ? "ProblemSize[1]" : "ProblemSize[0]";
    return folder.file("small.json", description.dump());
}

TEST(TuneCommand, ExamplesAreRight) {
    {
        const TemporaryFolder folder;
        const std::string file =
            shrunk(folder, "vector-add-t1", "vector_add", {{"block_size_x", {64, 128}}, {"elements_per_thread", {2}}},
                   json::array({1000}));
        const Finished run = run_espalier(folder, "tune " + file + " --json --seconds 1 --noise 20%");
        ASSERT_EQ(run.code, 0) << run.err;
        EXPECT_EQ(json::parse(run.out)["problems"][0]["valid"], 2) << run.out;
    }
    const TemporaryFolder folder;
    const std::string file = shrunk(folder, "convolution-t1", "convolution",
                                    {{"block_size_x", {16}},
                                     {"block_size_y", {4}},
                                     {"tile_size_x", {2}},
                                     {"tile_size_y", {3}},
                                     {"use_padding", {0, 1}}},
                                    {40, 30});
    const Finished run = run_espalier(folder, "tune " + file + " --json --seconds 1 --noise 20%");
    ASSERT_EQ(run.code, 0) << run.err;
    EXPECT_EQ(json::parse(run.out)["problems"][0]["valid"], 2) << run.out;
}

TEST(TuneCommand, TreeOverSizesIsAHeader) {
    const TemporaryFolder folder;
    const std::string file = shrunk(folder, "matmul-t1", "matmul",
                                    {{"block_size_x", {8}},
                                     {"block_size_y", {8}},
                                     {"work_x", {1, 2}},
                                     {"work_y", {1}},
                                     {"depth", {8}},
                                     {"pad", {1}}},
                                    {{8, 8, 8}, {30, 20, 10}});
    const std::string header = folder / "pick.hpp";
    const Finished run = run_espalier(folder, "tune " + file + " --seconds 1 --noise 20% --emit " + header);
    ASSERT_EQ(run.code, 0) << run.err;
    expect_holds(run.out, {"columns=8;rows=8;inner=8: 2 of 2 configurations tried, 2 valid", "tree: "});
    expect_holds(read_bytes(header), {"namespace matmul_tuned", "pick(", "long long columns", "long long work_x;"});
}

TEST(TuneCommand, BadDescriptionIsToldBeforeCompiling) {
    const TemporaryFolder folder;
    static_cast<void>(folder.file("add.cu", kManyWays));
    static_cast<void>(folder.file("oracle.py", ""));
    json description = many_ways();
    description["KernelSpecification"]["Arguments"][1]["Size"] = "n * m";
    const std::string file = folder.file("add.json", description.dump());
    const Finished run = run_espalier(folder, "tune " + file, "CXX=/bin/false ");
    EXPECT_EQ(run.code, 4);
    expect_holds(run.err, {"add.json: /KernelSpecification/Arguments/1/Size: 'n * m': 'm' is no name here"});
    EXPECT_EQ(run_espalier(folder, "tune " + file + " -o " + file).code, 2);
}

TEST(TuneCommand, DryRunCountsConfigurations) {
    const TemporaryFolder folder;
    for (const auto& [example, count] :
         std::map<std::string, std::string>{{"vector-add-t1/vector_add", "128 configurations"},
                                            {"convolution-t1/convolution", "configurations, 6144"}}) {
        const Finished run = run_espalier(
            folder, "tune --dry-run " + std::string(ESPALIER_EXAMPLES) + "/" + example + ".json", "CXX=/bin/false ");
        EXPECT_EQ(run.code, 0) << run.err;
        expect_holds(run.out, {count.c_str()});
    }
}

TEST(TuneCommand, WrongOracleIsToldOf) {
    const TemporaryFolder folder;
    static_cast<void>(folder.file("add.cu", kManyWays));
    static_cast<void>(folder.file("oracle.py", "def oracle(a, **_):\n    return a[1:]\n"));
    const std::string file = folder.file("add.json", many_ways().dump());
    const Finished run = run_espalier(folder, "tune " + file);
    EXPECT_EQ(run.code, 4);
    expect_holds(run.err, {"oracle returns 199 values of c, which has 200"});
}

}  // namespace
}  // namespace espalier
