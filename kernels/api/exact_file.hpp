#pragma once

#include <string>

#include "kernels/api/exact_model.hpp"
#include "kernels/api/exact_rows.hpp"
#include "kernels/api/model_file.hpp"

/// The file of a model in double precision has behind its header (model_file.hpp): the types of the attributes (a
/// byte each, for mixed_euclidean only), the numbers of those that have a weight (4 bytes each, if they are not all),
/// their weights, the points item-major as doubles, and the labels: classes of 4 bytes or targets of 8. Attributes are
/// those with a weight, and points are as they are compared: weighted, in radians, for cosine at unit length.
namespace espalier::exact_file {

struct Contents {
    ExactTask task;
    exact::RowRule rule;
    exact::Rows rows;  ///< one for each point
};

/// Both throw `BadData`, which names the file and the fix.
void write(const std::string& path, const ExactTask& task, const exact::RowRule& rule, const exact::Rows& rows);
Contents read(const std::string& path, model_file::Kind kind);

}  // namespace espalier::exact_file
