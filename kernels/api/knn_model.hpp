#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "espalier/knn.hpp"
#include "kernels/api/resident.hpp"
#include "kernels/problems/knn.hpp"

namespace espalier::inline v0 {

/// A training set where its device reaches it.
struct TrainingSet {
    std::vector<AttributeType> types;  ///< on the host; the rule's span is not kept
    Resident<AttributeType> device_types;
    Resident<float> points;  ///< attribute-major
    Resident<std::int32_t> classes;
    Resident<float> targets;

    /// The host's copy of a GPU's model, made when a pipeline first runs a stage on the CPU.
    struct OnHost {
        std::once_flag made;
        std::vector<float> points;
        std::vector<std::int32_t> classes;
        std::vector<float> targets;
    };
    mutable OnHost on_host{};
};

/// A training set and what is asked of it.
struct KnnModel {
    Device device;
    knn::Problem problem;  ///< without queries
    std::shared_ptr<const TrainingSet> training;

    [[nodiscard]] DistanceRule rule() const { return {problem.metric, problem.missing, training->types}; }
};

}  // namespace espalier::inline v0
