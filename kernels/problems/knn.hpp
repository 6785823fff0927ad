#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "espalier/knn.hpp"
#include "kernels/core/cost.hpp"
#include "kernels/core/feature.hpp"
#include "kernels/core/selector.hpp"
#include "kernels/problems/distance.hpp"
#include "kernels/problems/smallest_k.hpp"

/// k nearest neighbours: distances, selection and vote as one operation (sources K and P).
namespace espalier::knn {

enum class VariantId : std::uint16_t;

/// Where the items lie, which decides how much of a search can be ruled out. Nobody who asks for neighbours says so,
/// and no tree may ask.
enum class Data {
    whole,         ///< whole numbers 0 to 15: many distances are equal
    continuous,    ///< uniform random numbers
    clusters,      ///< 64 clusters a tenth as wide as the data
    far_clusters,  ///< 32 clusters a thousandth as wide as the data, far from zero
    directions,    ///< unit vectors around 256 directions, as embeddings lie
    images,        ///< grey levels 0 to 255, four fifths of them 0
    duplicates,    ///< each point about 40 times
    outlier,       ///< uniform but for one attribute of one point, 1e15
    places,        ///< latitudes and longitudes around 1,000 towns
    times,         ///< a time stamp in seconds beside numbers of everyday size
};

inline constexpr std::string_view kDataNames[] = {"whole",  "continuous", "clusters", "far_clusters", "directions",
                                                  "images", "duplicates", "outlier",  "places",       "times"};
inline constexpr std::string_view kVoteNames[] = {"majority", "distance_weighted"};
inline constexpr std::string_view kTaskNames[] = {"classification", "regression"};
inline constexpr std::string_view kQueriesInNames[] = {"device", "host"};

/// Who chooses the variants of the two big stages: functions of the caller's, so that the pipelines know
/// no selector. What they return must support the problem they are asked for.
struct Stages {
    Chosen<distance::Problem> (*distance)(const distance::Problem&, const DeviceInfo&) = nullptr;
    Chosen<smallest_k::Problem> (*smallest_k)(const smallest_k::Problem&, const DeviceInfo&) = nullptr;
};

/// The arrays on the host if the problem's queries are there: they and copies of the points, for pipelines that
/// run a stage on the CPU, and the predictions. As the same members of `Buffers`; null for other problems.
struct OnHost {
    const float* query_values = nullptr;
    const float* point_values = nullptr;
    const std::int32_t* point_classes = nullptr;
    const float* point_targets = nullptr;
    std::byte* predictions = nullptr;  ///< queries x 4 bytes, what `classes` or `targets` holds
};

/// Reads queries and points (the training set) attribute-major, as `distance` does: attribute a of query q
/// is query_values[a * queries + q]. Everything but `types_on_host` is where the variant runs; nothing
/// overlaps. Of `point_classes` and `point_targets`, and of `classes` and `targets`, the ones that the
/// task does not need are null.
struct Buffers {
    const float* query_values = nullptr;           ///< dims x queries; null if they are on the host
    const float* point_values = nullptr;           ///< dims x points
    const std::int32_t* point_classes = nullptr;   ///< points, each 0..classes-1
    const float* point_targets = nullptr;          ///< points
    const AttributeType* types = nullptr;          ///< dims, read for mixed_euclidean only
    const AttributeType* types_on_host = nullptr;  ///< the same on the host

    std::int32_t* classes = nullptr;  ///< queries: the predicted class, or kNoClass
    float* targets = nullptr;         ///< queries: the predicted target, or NaN

    /// The neighbours as `smallest_k` lists them: the j-th nearest of query q at [j * queries + q]. Null if
    /// nobody wants to know.
    float* neighbour_distances = nullptr;       ///< k x queries
    std::int32_t* neighbour_indices = nullptr;  ///< k x queries

    OnHost on_host;
    Stages stages;
};

/// Any size may be 0. k is 0..kMaxSmallestK; with fewer points than k all of them are neighbours, and
/// equally distant points are taken in their order. `classes` is of no account for a regression.
struct Problem {
    using Buffers = knn::Buffers;
    using Id = VariantId;

    std::int64_t queries = 1000;
    std::int64_t points = 1000;
    std::int64_t dims = 50;
    std::int64_t k = 5;
    std::int64_t classes = 10;
    Metric metric = Metric::euclidean;
    Missing missing = Missing::none;
    Vote vote = Vote::majority;
    Task task = Task::classification;
    QueriesIn queries_in = QueriesIn::device;
    Data data = Data::whole;

    [[nodiscard]] constexpr std::int64_t distances() const { return queries * points; }
    [[nodiscard]] constexpr std::int64_t terms() const { return queries * points * dims; }

    static std::span<const Feature<Problem>> features() {
        static constexpr std::array list{
            number<&Problem::queries>("queries", "problem.queries"),
            number<&Problem::points>("points", "problem.points"),
            number<&Problem::dims>("dims", "problem.dims"),
            number<&Problem::k>("k", "problem.k"),
            number<&Problem::classes>("classes", "problem.classes"),
            category<&Problem::metric>("metric", "problem.metric", "Metric", distance::kMetricNames),
            category<&Problem::missing>("missing", "problem.missing", "Missing", distance::kMissingNames),
            category<&Problem::vote>("vote", "problem.vote", "Vote", kVoteNames),
            category<&Problem::task>("task", "problem.task", "Task", kTaskNames),
            category<&Problem::queries_in>("queries_in", "problem.queries_in", "QueriesIn", kQueriesInNames),
            optional(unknown(category<&Problem::data>("data", "problem.data", "Data", kDataNames))),
            derived<&Problem::distances>("distances", "problem.distances()"),
            derived<&Problem::terms>("terms", "problem.terms()"),
        };
        return list;
    }

    /// As for `distance` and `smallest_k`, without the matrix between them, which a pipeline need not write.
    [[nodiscard]] Cost cost() const {
        const auto values = static_cast<double>((queries + points) * (dims + 1));
        return {.bytes = values * sizeof(float),
                .fp32_ops = 2.0 * static_cast<double>(terms()),
                .int_ops = static_cast<double>(distances())};
    }
};

}  // namespace espalier::knn
