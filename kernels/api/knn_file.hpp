#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/knn.hpp"
#include "kernels/api/model_file.hpp"

/// The file of a model in single precision has behind its header (model_file.hpp): the types of the attributes (a
/// byte each, for mixed_euclidean only), the points attribute-major as floats, and the labels of 4 bytes each (of a
/// model without labels none).
namespace espalier::knn_file {

using model_file::Kind;

struct Contents {
    Kind kind = Kind::classifier;
    std::int64_t points = 0, dims = 0, k = 1;
    Metric metric = Metric::euclidean;
    Missing missing = Missing::none;
    Vote vote = Vote::majority;
    std::vector<AttributeType> types;
    std::vector<float> values;  ///< attribute-major
    std::vector<std::int32_t> classes;
    std::vector<float> targets;
};

/// Both throw `BadData`, which names the file and the fix.
void write(const std::string& path, const Contents& contents);
Contents read(const std::string& path, Kind kind);

}  // namespace espalier::knn_file
