#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/knn.hpp"

/// The file of a model of nearest neighbours.
///
/// Little-endian: a header of 96 bytes with a checksum of its own, then the types of the attributes (a byte each, for
/// mixed_euclidean only), the points attribute-major as floats, the labels of 4 bytes each (of a model without labels
/// none), and the CRC-64 of all before. The header says how long the file is, so that nothing is allocated for
/// one that is not.
namespace espalier::knn_file {

enum class Kind : std::uint32_t { classifier, regressor, neighbours };

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
