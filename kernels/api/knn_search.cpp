// How the shards of a device are searched.

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/api/items.hpp"
#include "kernels/api/knn_call.hpp"
#include "kernels/api/knn_shards.hpp"

namespace espalier {
namespace {

/// The neighbours of these queries among the points of a model.
KnnCall call_of(std::shared_ptr<const KnnModel> model, const Items& queries) {
    KnnCall call{.problem = model->problem,
                 .model = std::move(model),
                 .given = queries,
                 .predicts = false,
                 .lists_distances = true,
                 .lists_indices = true,
                 .list_layout = MatrixLayout::row_major};
    call.problem.queries = queries.count;
    return call;
}

/// Searches on the host, where points that lie as the kernels read them are left where they are.
class HostSearch final : public ShardSearch {
public:
    explicit HostSearch(const ShardedModel& model) : model_(model) {}

    void begin(const Items& queries, const Options& options, MergedLists& merged) override {
        queries_ = queries;
        options_ = options;
        merged_ = &merged;
        distances_.resize(static_cast<std::size_t>(queries.count * model_.rule.k));
        indices_.resize(distances_.size());
    }

    Result<void> search(const Shard& shard) override {
        const DeviceState& state = state_of(model_.devices[shard.device]->device);
        const AttributeMajor points(model_.points_of(shard));
        const auto model =
            model_.model_of(shard, Resident<float>::borrowed(state, points.values(), shard.count * model_.points.dims));
        const auto planned =
            decide_call(state, call_of(model, queries_), options_, {.deterministic = options_.deterministic});
        if (!planned) return planned.error();
        const Wanted lists{.lists = {distances_.data(), indices_.data()}};
        if (auto done = run_once(planned.value(), pointers(queries_, lists), options_); !done) return done;
        merged_->merge(distances_.data(), indices_.data(), shard.first);
        return {};
    }

    void finish() override {}

private:
    const ShardedModel& model_;
    Items queries_;
    Options options_;
    MergedLists* merged_ = nullptr;
    std::vector<float> distances_;
    std::vector<std::int32_t> indices_;
};

/// Searches on a GPU, in the order of a stream. Points are brought by another one, so that the copies of a shard go on
/// while those before it are searched; and lists are fetched by a third, while later shards are searched.
class GpuSearch final : public ShardSearch {
public:
    explicit GpuSearch(const ShardedModel& model) : model_(model) {}

    void begin(const Items& queries, const Options& options, MergedLists& merged) override {
        options_ = options;
        options_.memory = Memory::device;
        merged_ = &merged;
        entries_ = static_cast<std::size_t>(queries.count * model_.rule.k);
        // The shards that stay are searched while one is brought: lists of many of them, unless they are large.
        constexpr std::size_t kBytes = std::size_t{1} << 26;
        slots_in_use_ = std::clamp<std::size_t>(kBytes / (8 * entries_), 2, slots_.size());
        make_room(query_values_, static_cast<std::size_t>(value_count(queries)) * sizeof(float));
        device::copy_rows_to_device(query_values_.data(), queries.values, rows_of(queries), searches_.get());
        queries_ = {query_values_.as<float>(), queries.count, queries.dims, queries.layout};
    }

    Result<void> search(const Shard& shard) override {
        const auto model = shard.resident ? shard.resident : brought(shard);
        Slot& slot = slots_[turn_++ % slots_in_use_];
        fetch(slot);
        make_room(slot.distances, entries_ * sizeof(float));
        make_room(slot.indices, entries_ * sizeof(std::int32_t));
        const auto planned = decide_call(state_of(model->device), call_of(model, queries_), options_,
                                         {.deterministic = options_.deterministic, .only_enqueues = true});
        if (!planned) return planned.error();
        make_room(workspace_, planned.value().workspace_bytes());
        const Wanted lists{.lists = {slot.distances.as<float>(), slot.indices.as<std::int32_t>()}};
        const auto done = run_planned(planned.value(), pointers(queries_, lists), searches_.get(),
                                      {workspace_.data(), workspace_.size()});
        slot.searched.record(searches_.get());
        slot.shard = &shard;
        return done;
    }

    void finish() override {
        for (std::size_t i = 0; i < slots_in_use_; ++i) fetch(slots_[turn_++ % slots_in_use_]);
    }

private:
    /// Lists of a shard.
    struct Slot {
        device::Buffer distances, indices;
        device::Event searched;
        const Shard* shard = nullptr;  ///< null if the lists were fetched
    };

    std::shared_ptr<const KnnModel> brought(const Shard& shard) {
        const Items points = model_.points_of(shard);
        const std::size_t bytes = static_cast<std::size_t>(value_count(points)) * sizeof(float);
        make_room(brought_, bytes);
        make_room(points_, bytes);
        brought_is_free_.make_wait(upload_.stream());
        upload_.bring(points, brought_.as<float>());
        is_brought_.record(upload_.stream());
        is_brought_.make_wait(searches_.get());
        to_attribute_major_on_device(points, brought_.as<float>(), points_.as<float>(), searches_.get());
        brought_is_free_.record(searches_.get());
        const DeviceState& state = state_of(model_.devices[shard.device]->device);
        return model_.model_of(shard, Resident<float>::borrowed(state, points_.as<float>(), value_count(points)));
    }

    void fetch(Slot& slot) {
        if (!slot.shard) return;
        distances_.resize(entries_);
        indices_.resize(entries_);
        slot.searched.wait_for();
        device::copy_to_host(distances_.data(), slot.distances.data(), entries_ * sizeof(float), lists_.get());
        device::copy_to_host(indices_.data(), slot.indices.data(), entries_ * sizeof(std::int32_t), lists_.get());
        device::synchronize(lists_.get());
        merged_->merge(distances_.data(), indices_.data(), slot.shard->first);
        slot.shard = nullptr;
    }

    const ShardedModel& model_;
    Items queries_;  ///< on the GPU
    Options options_;
    MergedLists* merged_ = nullptr;
    std::size_t entries_ = 0;
    std::vector<float> distances_;
    std::vector<std::int32_t> indices_;
    device::Buffer query_values_, brought_, points_, workspace_;
    std::array<Slot, 16> slots_;
    std::size_t slots_in_use_ = 2, turn_ = 0;
    device::Event is_brought_, brought_is_free_;
    device::OwnedStream searches_, lists_;
    Upload upload_;
};

}  // namespace

std::unique_ptr<ShardSearch> make_shard_search(const ShardedModel& model, const Device& device) {
    if (device.is_cuda()) return std::make_unique<GpuSearch>(model);
    return std::make_unique<HostSearch>(model);
}

}  // namespace espalier
