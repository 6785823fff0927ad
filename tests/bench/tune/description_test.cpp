#include <gtest/gtest.h>

#include <fstream>

#include "harness/bench/tune/worker/inputs.hpp"
#include "kernels/json/bad_data.hpp"
#include "tests/bench/tune/described.hpp"

namespace espalier::bench::tune {
namespace {

/// A change to the small description, and what is said of it.
struct Change {
    const char* name;
    const char* pointer;
    const char* value;  ///< JSON
    const char* place;
    const char* fix;
};

class BadDescription : public testing::TestWithParam<Change> {};

TEST_P(BadDescription, NamesPlaceAndFix) {
    const TemporaryFolder folder;
    nlohmann::json json = small_description();
    json[nlohmann::json::json_pointer(GetParam().pointer)] = nlohmann::json::parse(GetParam().value);
    const std::string message = message_of<BadData>([&] { check_arguments(described(folder, json), 1 << 20); });
    expect_holds(message, {"scale.json", GetParam().place, GetParam().fix});
}

constexpr const char* kParameters = "/ConfigurationSpace/TuningParameters";
constexpr const char* kArgument = "/KernelSpecification/Arguments/1";

INSTANTIATE_TEST_SUITE_P(
    Description, BadDescription,
    testing::Values(
        Change{"Kernel", "/KernelSpecification", "null", "/: ", "the member 'KernelSpecification' is missing"},
        Change{"Slip", "/ConfigurationSpace/Condition", "[]", "/ConfigurationSpace/Condition", "write 'Conditions'"},
        Change{"Values", "/ConfigurationSpace/TuningParameters/0/Values", R"("[32, 64")", kParameters,
               "']' is missing"},
        Change{"NoList", "/ConfigurationSpace/TuningParameters/0/Values", R"("32")", kParameters, "write [...]"},
        Change{"Twice", "/ConfigurationSpace/TuningParameters/1/Values", "[1, 1]", kParameters, "remove one"},
        Change{"Texts", "/ConfigurationSpace/TuningParameters/1/Values", R"(["a"])", kParameters, "write numbers"},
        Change{"Default", "/ConfigurationSpace/TuningParameters/0/Default", "48", "TuningParameters/0/Default",
               "choose one of them"},
        Change{"Identifier", "/ConfigurationSpace/TuningParameters/0/Name", R"("block-size")",
               "TuningParameters/0/Name", "is no name of C"},
        Change{"SameName", "/ConfigurationSpace/TuningParameters/1/Name", R"("block_size_x")", "TuningParameters/1",
               "another parameter"},
        Change{"Condition", "/ConfigurationSpace/Conditions/0/Expression", R"("block_size_x && tile")",
               "/ConfigurationSpace/Conditions/0/Expression", "write 'and'"},
        Change{"UnknownName", "/ConfigurationSpace/Conditions/0/Expression", R"("block_size_y <= 8")",
               "/ConfigurationSpace/Conditions/0/Expression", "did you mean 'block_size_x'?"},
        Change{"Language", "/KernelSpecification/Language", R"("OpenCL")", "/KernelSpecification/Language",
               "only kernels in CUDA"},
        Change{"File", "/KernelSpecification/KernelFile", R"("none.cu")", "/KernelSpecification/KernelFile",
               "there is no file"},
        Change{"NoSuchKernel", "/KernelSpecification/KernelName", R"("scales")", "/KernelSpecification/KernelName",
               "no __global__ function 'scales'"},
        Change{"Grid", "/KernelSpecification/GlobalSize", R"({"Y": "1"})", "/KernelSpecification/GlobalSize",
               "'X' is missing"},
        Change{"Sizes", "/KernelSpecification/ProblemSize", "[[100], [10, 10]]", "/KernelSpecification/ProblemSize/1",
               "has 2 sizes and the first one 1"},
        Change{"Names", "/KernelSpecification/ProblemSizeNames", R"(["tile"])",
               "/KernelSpecification/ProblemSizeNames/0", "is taken"},
        Change{"Type", "/KernelSpecification/Arguments/1/Type", R"("single")", kArgument, "is no type"},
        Change{"Memory", "/KernelSpecification/Arguments/1/MemoryType", R"("Array")", kArgument,
               "write one of Scalar, Vector"},
        Change{"Size", "/KernelSpecification/Arguments/1/Size", R"("n - 100")", "/KernelSpecification/Arguments/1/Size",
               "a number from 1"},
        Change{"Fraction", "/KernelSpecification/Arguments/1/Size", R"("n / 3")",
               "/KernelSpecification/Arguments/1/Size", "write //, or ceil"},
        Change{"Large", "/KernelSpecification/Arguments/1/Size", "1000000", kArgument, "lower a Size"},
        Change{"Scalar", "/KernelSpecification/Arguments/2/FillValue", "3000000000", "/KernelSpecification/Arguments/2",
               "does not fit into int"},
        Change{"NoValue", "/KernelSpecification/Arguments/2/FillValue", "null", "/KernelSpecification/Arguments/2",
               "needs its FillValue"},
        Change{"Fill", "/KernelSpecification/Arguments/1/FillType", R"("Script")", kArgument, "write Generator"},
        Change{"NoOutput", "/KernelSpecification/Arguments/0/Output", "0", "/KernelSpecification/Arguments",
               "no argument is an output"},
        Change{"Reference", "/KernelSpecification/Reference", R"({"Configuration": {"tile": 3}})",
               "/KernelSpecification/Reference/Configuration/tile", "choose one of them"},
        Change{"Oracle", "/KernelSpecification/Oracle", R"("oracle.m")", "/KernelSpecification/Oracle", ".py or a .so"},
        Change{"Threshold", "/KernelSpecification/ReferenceArguments",
               R"([{"Name": "r", "TargetName": "in", "FillType": "Constant", "ValidationThreshold": 1}])",
               "/KernelSpecification/ReferenceArguments/0/TargetName", "no output of the name 'in'"}),
    [](const auto& test) { return test.param.name; });

TEST(Description, OfNoJsonNamesFile) {
    const TemporaryFolder folder;
    const std::string file = folder.file("kernel.json", "{\"ConfigurationSpace\": ");
    expect_holds(message_of<BadData>([&] { static_cast<void>(read_description(file)); }), {"kernel.json"});
    expect_holds(message_of<BadData>([&] { static_cast<void>(read_description(folder / "none.json")); }),
                 {"none.json", "there is no such file"});
}

TEST(Description, FileOfAnotherLengthIsRefused) {
    const TemporaryFolder folder;
    nlohmann::json json = small_description();
    json["KernelSpecification"]["ProblemSize"] = 100;
    json["KernelSpecification"]["Arguments"][1]["FillType"] = "BinaryRaw";
    json["KernelSpecification"]["Arguments"][1]["DataSource"] = "in.bin";
    static_cast<void>(folder.file("in.bin", std::string(399, 'x')));
    expect_holds(message_of<BadData>([&] { check_arguments(described(folder, json), 1 << 20); }),
                 {"/KernelSpecification/Arguments/1", "has 399 bytes and not 400"});
}

TEST(Inputs, AreWhatTheDescriptionSays) {
    const TemporaryFolder folder;
    nlohmann::json json = small_description();
    nlohmann::json& in = json["KernelSpecification"]["Arguments"][1];
    in["FillValue"] = 2;
    const Description random = described(folder, json);
    const HostArgument values = make_argument(random, 1, 1);
    ASSERT_EQ(values.elements, 1000U);
    const std::span floats(reinterpret_cast<const float*>(values.bytes.data()), 1000);
    EXPECT_GE(std::ranges::min(floats), 0);
    EXPECT_LT(std::ranges::max(floats), 2);
    EXPECT_GT(std::ranges::max(floats), 1.9);
    EXPECT_EQ(make_argument(random, 1, 1).bytes, values.bytes);

    in["FillType"] = "Generator";
    in["DataSource"] = "i % 3 - 1";
    const HostArgument made = make_argument(described(folder, json), 1, 0);
    const std::span generated(reinterpret_cast<const float*>(made.bytes.data()), made.elements);
    EXPECT_EQ(generated[0], -1);
    EXPECT_EQ(generated[5], 1);
}

}  // namespace
}  // namespace espalier::bench::tune
