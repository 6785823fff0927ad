#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "espalier/device.hpp"
#include "espalier/knn.hpp"
#include "harness/apps/io/table.hpp"
#include "harness/families/bench_memory.hpp"
#include "kernels/problems/knn.hpp"

namespace espalier::bench::cli {

struct KnnSettings {
    std::int64_t k = 5;
    Metric metric = Metric::euclidean;
    Vote vote = Vote::majority;
    Task task = Task::classification;
    std::string variant;      ///< instead of the selector's choice; may be empty
    bool neighbours = false;  ///< whether predictions list the neighbours
    std::size_t memory = 0;   ///< bytes that everything of a session may need together
};

/// For a chunk of queries. Lists are k x queries: the j-th nearest of query q at [j * queries + q].
struct Predictions {
    std::vector<std::int32_t> classes;
    std::vector<float> targets;
    std::vector<float> distances;
    std::vector<std::int32_t> neighbours;
};

/// A training table on a device, asked for predictions chunk by chunk.
class KnnSession {
public:
    /// Throws Failure if k exceeds the table's rows or the table does not suit the metric, and DeviceError or
    /// std::bad_alloc if the device cannot hold it.
    KnnSession(const Device& device, const io::Schema& schema, const io::Rows& train, const KnnSettings& settings);

    /// The most rows, up to `wanted`, that one `predict` takes within the memory set. Throws Failure if not
    /// even one row does.
    [[nodiscard]] std::size_t chunk_rows(std::size_t wanted) const;

    Predictions predict(const io::Rows& rows);

    /// Why `predict` runs what it runs for so many rows.
    [[nodiscard]] std::string explanation(std::size_t rows) const;

    [[nodiscard]] std::int64_t train_rows() const { return points_; }

    /// What ran last: "knn/cpu_two_stage (budget_mib=64: distance/cpu_openmp, smallest_k/cpu_openmp)".
    [[nodiscard]] const std::string& ran() const { return ran_; }

private:
    [[nodiscard]] knn::Problem problem_for(std::size_t rows, bool missing) const;
    [[nodiscard]] std::size_t bytes_for(std::size_t rows) const;
    void upload(const io::Rows& rows, BenchMemory& memory) const;
    void grow(BenchMemory& memory, std::size_t bytes) const;

    Device device_;
    KnnSettings settings_;
    std::int64_t points_, dims_, classes_;
    bool missing_ = false;  ///< the training table has missing cells
    std::vector<AttributeType> types_;
    BenchMemory point_values_, point_labels_, device_types_;
    BenchMemory query_values_, results_, distances_, indices_, workspace_;
    std::string ran_;
};

}  // namespace espalier::bench::cli
