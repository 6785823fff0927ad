#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/bench/tune/describe/description.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::tune {

/// A description of a small kernel, which tests change.
inline nlohmann::json small_description() {
    return nlohmann::json::parse(R"json({
        "ConfigurationSpace": {
            "TuningParameters": [
                {"Name": "block_size_x", "Type": "int", "Values": "[32, 64, 128]", "Default": 64},
                {"Name": "tile", "Type": "int", "Values": [1, 2, 4]}
            ],
            "Conditions": [{"Expression": "block_size_x * tile <= 128", "Parameters": ["block_size_x", "tile"]}]
        },
        "KernelSpecification": {
            "Language": "CUDA", "KernelName": "scale", "KernelFile": "scale.cu", "ProblemSize": [[100], [1000]],
            "ProblemSizeNames": ["n"], "LocalSize": {"X": "block_size_x"},
            "GlobalSize": {"X": "(n + block_size_x * tile - 1) // (block_size_x * tile)"},
            "Arguments": [
                {"Name": "out", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": "n"},
                {"Name": "in", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": "n",
                 "FillType": "Random"},
                {"Name": "count", "Type": "int32", "MemoryType": "Scalar", "FillValue": "n"}
            ]
}
})json");
}

inline Description described(const TemporaryFolder& folder, const nlohmann::json& json) {
    static_cast<void>(
        folder.file("scale.cu", "extern \"C\" __global__ void scale(float* out, const float* in, int n) {}"));
    return read_description(folder.file("scale.json", json.dump()));
}

}  // namespace espalier::bench::tune
