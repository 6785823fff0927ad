#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "espalier/device.hpp"
#include "espalier/distance.hpp"
#include "espalier/error.hpp"
#include "espalier/export.hpp"
#include "espalier/knn.hpp"
#include "espalier/options.hpp"

namespace espalier::inline v1 {

/// How a training set is cut into shards.
struct ShardOptions {
    /// Memory of each device that points may take, in bytes; a shard is a sixteenth of it. 0: three quarters of what a
    /// GPU has free when the model is made, 4 GiB of the host's for a CPU.
    std::size_t bytes_per_device = 0;
};

struct ShardedModel;

/// The base of models whose points need not fit into a device's memory: they are cut into shards, which are dealt to
/// one or several devices, and the lists of the shards are merged on the host.
///
/// A GPU keeps as many of its shards as its share of memory holds. The others each call brings to it again, through
/// page-locked memory and while other shards are searched, so that few queries take as long as the copies, and many as
/// long as the searches. A CPU keeps none. A model keeps memory for the searches of its calls, of each GPU up to its
/// share and the workspace of a variant, and 64 MiB of page-locked memory.
///
/// `points` are in host memory, which may be a file that is mapped there, and must stay there as they are for as long
/// as the model or a copy of it lives. The answers are those of one model of all points, but for neighbours whose
/// distances single precision cannot tell apart: another variant may be the fastest for a shard. Copies of a model
/// share it, and any number of threads may use it; one that was moved from is empty, and its functions return
/// invalid_argument.
///
/// Options: `variant` and `deterministic` for the search of a shard; `threads`, of which each GPU gets one of its own
/// if there are several; and `progress`, which is called between shards. All arrays are in host memory, and a call
/// returns when its results are there. Errors: invalid_argument, unsupported, unknown_variant, out_of_memory,
/// device_failure, cancelled.
class ESPALIER_API ShardedKnnBase {
public:
    /// The nearest points of each of the `queries`.
    [[nodiscard]] Result<Neighbours> kneighbors(const Items& queries, const Options& options = {}) const;

    /// Lists the `neighbours` of `queries` in the lists' layout, into those of the arrays that are not null.
    Result<void> kneighbors(const Items& queries, const NeighbourLists& neighbours, const Options& options = {}) const;

    /// Shards that the points were cut into; 0 of a model that was moved from.
    [[nodiscard]] std::int64_t shard_count() const noexcept;

    /// Those of them that stay on the devices.
    [[nodiscard]] std::int64_t resident_count() const noexcept;

protected:
    /// @cond
    explicit ShardedKnnBase(std::shared_ptr<const ShardedModel> model) noexcept : model_(std::move(model)) {}
    [[nodiscard]] const std::shared_ptr<const ShardedModel>& model() const noexcept { return model_; }
    /// @endcond

private:
    std::shared_ptr<const ShardedModel> model_;
};

/// Nearest neighbours without labels, as `NearestNeighbours` lists them.
class ESPALIER_API ShardedNearestNeighbours : public ShardedKnnBase {
public:
    /// Deals `shards` of `points` to `devices`, GPUs or the CPU, as many to each. `rule` says how they are asked; its
    /// vote is of no account. Options: `threads`.
    static Result<ShardedNearestNeighbours> fit(std::span<const Device> devices, const Items& points,
                                                const NeighbourRule& rule, const ShardOptions& shards = {},
                                                const Options& options = {});

private:
    using ShardedKnnBase::ShardedKnnBase;
};

/// Classification as by `KnnClassifier`. Votes are added up in double precision.
class ESPALIER_API ShardedKnnClassifier : public ShardedKnnBase {
public:
    /// Deals `shards` of `points` to `devices`, GPUs or the CPU, as many to each; `rule` says how they are asked.
    /// `classes` (0 or more, one per point) may go after the call. Options: `threads`.
    static Result<ShardedKnnClassifier> fit(std::span<const Device> devices, const Items& points,
                                            std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                            const ShardOptions& shards = {}, const Options& options = {});

    /// The class of each of the `queries`, kNoClass for one without a neighbour that has a say.
    [[nodiscard]] Result<std::vector<std::int32_t>> predict(const Items& queries, const Options& options = {}) const;

private:
    using ShardedKnnBase::ShardedKnnBase;
};

/// Regression as by `KnnRegressor`. Votes are added up in double precision.
class ESPALIER_API ShardedKnnRegressor : public ShardedKnnBase {
public:
    /// Deals `shards` of `points` to `devices`, GPUs or the CPU, as many to each; `rule` says how they are asked.
    /// `targets`, one per point, may go after the call. Options: `threads`.
    static Result<ShardedKnnRegressor> fit(std::span<const Device> devices, const Items& points,
                                           std::span<const float> targets, const NeighbourRule& rule,
                                           const ShardOptions& shards = {}, const Options& options = {});

    /// The mean target of the neighbours of each of the `queries`, NaN for one without a neighbour that has a say.
    [[nodiscard]] Result<std::vector<float>> predict(const Items& queries, const Options& options = {}) const;

private:
    using ShardedKnnBase::ShardedKnnBase;
};

}  // namespace espalier::inline v1
