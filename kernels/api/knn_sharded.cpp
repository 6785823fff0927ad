// Points in shards: dealt to devices, searched there one after another, and their lists merged here.

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "espalier/sharded_knn.hpp"
#include "kernels/api/arrays.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/api/exact_vote.hpp"
#include "kernels/api/guarded.hpp"
#include "kernels/api/items.hpp"
#include "kernels/api/knn_model.hpp"
#include "kernels/api/knn_shards.hpp"
#include "kernels/api/progress.hpp"
#include "kernels/core/thread_errors.hpp"
#include "kernels/device/threads.hpp"

namespace espalier::inline v1 {
namespace {

/// A device's memory for points holds so many shards: those that stay, one that is searched, one that is brought
/// meanwhile, and one for what searches take.
constexpr std::size_t kShardsOfDevice = 16, kResidentShards = kShardsOfDevice - 3;

std::optional<Error> not_of_shards(const Options& options) {
    if (auto error = invalid_threads(options)) return error;
    if (auto error = invalid_memory(options.memory)) return error;
    if (options.memory == Memory::device)
        return invalid("Options::memory is device, but sharded models read and write host memory");
    if (options.stream) return invalid("Options::stream is set, but sharded models have streams of their own");
    return std::nullopt;
}

/// What the shards of one device may take of its memory.
std::size_t bytes_for(const Device& device, std::span<const Device> devices, const ShardOptions& shards) {
    if (shards.bytes_per_device > 0) return shards.bytes_per_device;
    if (!device.is_cuda()) return std::size_t{4} << 30;
    const CurrentDevice current(state_of(device));
    return device::memory_state().free / 4 * 3 / static_cast<std::size_t>(std::ranges::count(devices, device));
}

/// Shards of nearly as many points each, as many for each device.
std::vector<Shard> cut(const Items& points, std::size_t devices, std::size_t bytes_of_shard) {
    const auto bytes_of_point = static_cast<std::size_t>(std::max<std::int64_t>(points.dims, 1)) * sizeof(float);
    const auto all = static_cast<std::size_t>(std::max<std::int64_t>(points.count, 1));
    const auto most = static_cast<std::int64_t>(std::clamp<std::size_t>(bytes_of_shard / bytes_of_point, 1, all));
    const auto dealt_to = static_cast<std::int64_t>(devices);
    const std::int64_t rounds = (points.count + most * dealt_to - 1) / (most * dealt_to);
    const std::int64_t each = std::max<std::int64_t>(
        (points.count + rounds * dealt_to - 1) / std::max<std::int64_t>(rounds * dealt_to, 1), 1);
    std::vector<Shard> shards;
    for (std::int64_t first = 0; first < points.count; first += each)
        shards.push_back({first, std::min(each, points.count - first), shards.size() % devices});
    return shards;
}

/// Fits the first shards of each GPU, as many as its memory holds.
void keep_shards(ShardedModel& model, std::size_t bytes_of_shard) {
    for (std::size_t d = 0; d < model.devices.size(); ++d) {
        if (!model.devices[d]->device.is_cuda()) continue;
        const CurrentDevice current(state_of(model.devices[d]->device));
        Upload upload;
        device::Buffer brought;
        std::size_t kept = 0;
        for (Shard& shard : model.shards) {
            if (shard.device != d) continue;
            kept += static_cast<std::size_t>(shard.count * model.points.dims) * sizeof(float);
            if (kept > kResidentShards * bytes_of_shard) break;
            shard.resident = resident_shard(model, shard, upload, brought);
        }
    }
}

/// The order of a call: one shard of each device after the other, and of one device's those that stay there spread
/// evenly among those that are brought, so that they are searched meanwhile.
std::vector<Shard> in_order(const std::vector<Shard>& shards, std::size_t devices) {
    std::vector<std::vector<Shard>> of_devices(devices);
    for (std::size_t d = 0; d < devices; ++d) {
        std::vector<Shard> stay, brought;
        for (const Shard& shard : shards)
            if (shard.device == d) (shard.resident ? stay : brought).push_back(shard);
        const std::size_t all = stay.size() + brought.size();
        for (std::size_t i = 0, b = 0; i < all; ++i) {
            const bool is_turn = b < brought.size() && b * all <= i * brought.size();
            of_devices[d].push_back(is_turn ? brought[b] : stay[i - b]);
            b += is_turn ? 1 : 0;
        }
    }
    std::vector<Shard> order;
    for (std::size_t i = 0; order.size() < shards.size(); ++i)
        for (const std::vector<Shard>& of_device : of_devices)
            if (i < of_device.size()) order.push_back(of_device[i]);
    return order;
}

/// What the shards of a device share there.
std::unique_ptr<ShardedModel::OnDevice> on_device(const Device& device, const ShardedModel& model) {
    const CurrentDevice current(state_of(device));
    auto shared = std::make_unique<ShardedModel::OnDevice>(device);
    std::int64_t most = 0;
    for (const Shard& shard : model.shards) most = std::max(most, shard.count);
    const std::vector<std::int32_t> zeros(static_cast<std::size_t>(most));
    shared->classes = {state_of(device), zeros.data(), most};
    shared->types = {state_of(device), model.types.data(), static_cast<std::int64_t>(model.types.size())};
    return shared;
}

/// A model without labels.
Result<std::shared_ptr<ShardedModel>> sharded(std::span<const Device> devices, const Items& points, std::size_t labels,
                                              const char* name, const NeighbourRule& rule, const ShardOptions& shards,
                                              const Options& options) {
    if (auto error = not_of_shards(options)) return *error;
    if (devices.empty()) return invalid("there are no devices for the shards: name one");
    for (const Device& device : devices)
        if (auto error = invalid_fit(device, points, labels, name, rule, options)) return *error;
    const HostThreads threads(state_of(devices[0]), options);
    auto model = std::make_shared<ShardedModel>();
    model->points = points;
    model->types.assign(rule.distance.types.begin(), rule.distance.types.end());
    model->rule = rule;
    model->rule.distance.types = model->types;
    std::size_t bytes_of_device = std::numeric_limits<std::size_t>::max();
    for (const Device& device : devices)
        bytes_of_device = std::min(bytes_of_device, bytes_for(device, devices, shards));
    const std::size_t bytes_of_shard = bytes_of_device / kShardsOfDevice;
    model->shards = cut(points, devices.size(), bytes_of_shard);
    for (const Device& device : devices) model->devices.push_back(on_device(device, *model));
    keep_shards(*model, bytes_of_shard);
    model->shards = in_order(model->shards, devices.size());
    return model;
}

/// A search that nobody else uses, for one call. It is kept for the next one if this one ends well.
class SearchOfCall {
public:
    SearchOfCall(const ShardedModel& model, ShardedModel::OnDevice& device) : device_(device) {
        {
            const std::lock_guard lock(device.mutex);
            if (!device.idle.empty()) {
                search_ = std::move(device.idle.back());
                device.idle.pop_back();
            }
        }
        if (!search_) search_ = make_shard_search(model, device.device);
    }

    ShardSearch* operator->() const { return search_.get(); }

    void keep() {
        const std::lock_guard lock(device_.mutex);
        device_.idle.push_back(std::move(search_));
    }

private:
    ShardedModel::OnDevice& device_;
    std::unique_ptr<ShardSearch> search_;
};

/// The devices by number, equal ones together.
std::vector<std::vector<std::size_t>> equal_devices(const ShardedModel& model) {
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t d = 0; d < model.devices.size(); ++d) {
        const auto group = std::ranges::find_if(groups, [&](const std::vector<std::size_t>& others) {
            return model.devices[others[0]]->device == model.devices[d]->device;
        });
        if (group == groups.end())
            groups.push_back({d});
        else
            group->push_back(d);
    }
    return groups;
}

/// The way of valid queries through all shards. Several GPUs have a thread each, since to gather what is copied to one
/// of them takes its link's time; only the calling thread tells the progress.
class ShardedCall {
public:
    ShardedCall(const ShardedModel& model, const Items& queries, const Options& options)
        : model_(model), queries_(queries), progress_(options), options_(of_part(options)) {}

    Result<void> run(MergedLists& merged) {
        auto groups = equal_devices(model_);
        const int threads = threads_for(state_of(model_.devices[0]->device), options_);
        if (threads < std::ssize(groups)) {  // one after the other
            groups = {{}};
            for (std::size_t d = 0; d < model_.devices.size(); ++d) groups[0].push_back(d);
        }
        options_.threads = std::max(threads / static_cast<int>(groups.size()), 1);
        progress_.at_start();
        std::vector<MergedLists> of_others(groups.size() - 1, merged);
        {
            std::vector<std::jthread> others;
            errors_.guard([&] {
                for (std::size_t g = 1; g < groups.size(); ++g)
                    others.emplace_back([&, g] { search(groups[g], of_others[g - 1], false); });
            });
            search(groups[0], merged, true);
        }
        errors_.rethrow();
        if (error_) return *error_;
        for (const MergedLists& lists : of_others) merged.merge(lists.distances().data(), lists.indices().data(), 0);
        progress_.at_end();
        return {};
    }

private:
    /// Searches the shards of some devices, until this or another thread fails.
    void search(std::span<const std::size_t> devices, MergedLists& merged, bool tells) noexcept {
        const device::TeamSize team(options_.threads);
        bool ends_well = false;
        errors_.guard([&] {
            const auto done = search_shards(devices, merged, tells);
            if (done) {
                ends_well = true;
                return;
            }
            const std::lock_guard lock(mutex_);
            if (!error_) error_ = done.error();
        });
        if (!ends_well) failed_ = true;
    }

    Result<void> search_shards(std::span<const std::size_t> devices, MergedLists& merged, bool tells) {
        std::map<std::size_t, SearchOfCall> searches;
        for (const std::size_t d : devices) {
            const CurrentDevice current(state_of(model_.devices[d]->device));
            searches.try_emplace(d, model_, *model_.devices[d]).first->second->begin(queries_, options_, merged);
        }
        for (const Shard& shard : model_.shards) {
            const auto search = searches.find(shard.device);
            if (search == searches.end()) continue;
            if (failed_) return {};
            const CurrentDevice current(state_of(model_.devices[shard.device]->device));
            if (auto done = search->second->search(shard); !done) return done;
            const std::int64_t searched = ++searched_;
            if (tells) progress_.after(searched, std::ssize(model_.shards));
        }
        for (auto& [d, search] : searches) {
            const CurrentDevice current(state_of(model_.devices[d]->device));
            search->finish();
            search.keep();
        }
        return {};
    }

    const ShardedModel& model_;
    const Items& queries_;
    Progress progress_;
    Options options_;
    std::atomic<std::int64_t> searched_{0};
    std::atomic<bool> failed_{false};
    ThreadErrors errors_;
    std::mutex mutex_;
    std::optional<Error> error_;
};

/// Says what is wrong with a call; null lists are for nobody.
std::optional<Error> invalid_call(const ShardedModel& model, const Items& queries, const NeighbourLists& lists,
                                  const Options& options) {
    if (auto error = not_of_shards(options)) return error;
    Items points = model.points;
    points.values = nullptr;
    if (auto error = invalid_comparison(queries, points, model.rule.distance)) return error;
    if (auto error = invalid_sizes({{"queries.count", queries.count}, {"k", model.rule.k}})) return error;
    if (auto error = invalid_lists(lists.layout, lists.stride, queries.count, model.rule.k)) return error;
    const std::int64_t rows = lists.layout == MatrixLayout::row_major ? queries.count : model.rule.k;
    const auto entries = [&](const void* data) { return data ? queries.count * model.rule.k : 0; };
    ArraySpec values = items_of("queries.values", queries);
    values.any_address = true;
    const std::array specs{values, in_rows(output_of<float>("distances", entries(lists.distances)), rows, lists.stride),
                           in_rows(output_of<std::int32_t>("indices", entries(lists.indices)), rows, lists.stride)};
    const Pointers<3> pointers{const_cast<float*>(queries.values), lists.distances, lists.indices};
    const DeviceState& state = state_of(model.devices[0]->device);
    const CurrentDevice current(state);
    return wrong_arrays({&state, Memory::host}, specs, pointers, {});
}

/// The lists of the neighbours of valid queries.
Result<MergedLists> neighbours_of(const ShardedModel& model, const Items& queries, const Options& options) {
    const HostThreads threads(state_of(model.devices[0]->device), options);
    MergedLists merged(queries.count, model.rule.k);
    if (queries.count == 0) return merged;
    if (auto done = ShardedCall(model, queries, options).run(merged); !done) return done.error();
    return merged;
}

/// Writes what the caller wants of the lists, of 4 bytes an entry.
void write_lists(const void* from, void* to, const NeighbourLists& lists, std::int64_t queries, std::int64_t k) {
    if (!to || queries == 0) return;
    const auto bytes = [](std::int64_t entries) { return static_cast<std::size_t>(entries) * sizeof(std::int32_t); };
    if (lists.layout == MatrixLayout::row_major)
        copy_rows(to, from,
                  {static_cast<std::size_t>(queries), bytes(k), bytes(lists.stride != 0 ? lists.stride : k), bytes(k)});
    else
        turn_back(from, to, k, queries, bytes(lists.stride != 0 ? lists.stride : queries));
}

/// The vote of the neighbours of each query by their `labels`.
template <class T, class Label>
Result<std::vector<T>> predictions(const std::shared_ptr<const ShardedModel>& model, const Items& queries,
                                   const Options& options, const std::vector<Label> ShardedModel::*labels) {
    return guarded([&]() -> Result<std::vector<T>> {
        if (auto error = invalid_call(*present(model), queries, {}, options)) return *error;
        auto merged = neighbours_of(*model, queries, options);
        if (!merged) return merged.error();
        const auto k = static_cast<std::size_t>(model->rule.k);
        std::vector<T> results;
        std::vector<exact::Neighbour> list(k);
        for (std::size_t at = 0; at < static_cast<std::size_t>(queries.count) * k; at += k) {
            for (std::size_t j = 0; j < k; ++j)
                list[j] = {merged.value().distances()[at + j], merged.value().indices()[at + j]};
            results.push_back(
                static_cast<T>(exact::predict(list, model->rule.vote, std::span<const Label>((*model).*labels))));
        }
        return results;
    });
}

}  // namespace

Result<Neighbours> ShardedKnnBase::kneighbors(const Items& queries, const Options& options) const {
    return guarded([&]() -> Result<Neighbours> {
        if (auto error = invalid_call(*present(model_), queries, {}, options)) return *error;
        auto merged = neighbours_of(*model_, queries, options);
        if (!merged) return merged.error();
        return Neighbours{queries.count, model_->rule.k, std::move(merged.value().distances()),
                          std::move(merged.value().indices())};
    });
}

Result<void> ShardedKnnBase::kneighbors(const Items& queries, const NeighbourLists& neighbours,
                                        const Options& options) const {
    return guarded([&]() -> Result<void> {
        if (auto error = invalid_call(*present(model_), queries, neighbours, options)) return *error;
        if (!neighbours.distances && !neighbours.indices && queries.count > 0)
            return invalid("there is an array for neither distances nor indices: give one of them");
        auto merged = neighbours_of(*model_, queries, options);
        if (!merged) return merged.error();
        const HostThreads threads(state_of(model_->devices[0]->device), options);
        const std::int64_t k = model_->rule.k;
        write_lists(merged.value().distances().data(), neighbours.distances, neighbours, queries.count, k);
        write_lists(merged.value().indices().data(), neighbours.indices, neighbours, queries.count, k);
        return {};
    });
}

std::int64_t ShardedKnnBase::shard_count() const noexcept { return model_ ? std::ssize(model_->shards) : 0; }

std::int64_t ShardedKnnBase::resident_count() const noexcept {
    if (!model_) return 0;
    return std::ranges::count_if(model_->shards, [](const Shard& shard) { return shard.resident != nullptr; });
}

Result<ShardedNearestNeighbours> ShardedNearestNeighbours::fit(std::span<const Device> devices, const Items& points,
                                                               const NeighbourRule& rule, const ShardOptions& shards,
                                                               const Options& options) {
    return guarded([&]() -> Result<ShardedNearestNeighbours> {
        const auto count = static_cast<std::size_t>(std::max<std::int64_t>(points.count, 0));
        auto model = sharded(devices, points, count, "points", rule, shards, options);
        if (!model) return model.error();
        return ShardedNearestNeighbours(std::move(model).value());
    });
}

Result<ShardedKnnClassifier> ShardedKnnClassifier::fit(std::span<const Device> devices, const Items& points,
                                                       std::span<const std::int32_t> classes, const NeighbourRule& rule,
                                                       const ShardOptions& shards, const Options& options) {
    return guarded([&]() -> Result<ShardedKnnClassifier> {
        if (auto error = invalid_classes(classes)) return *error;
        auto model = sharded(devices, points, classes.size(), "classes", rule, shards, options);
        if (!model) return model.error();
        model.value()->classes.assign(classes.begin(), classes.end());
        return ShardedKnnClassifier(std::move(model).value());
    });
}

Result<std::vector<std::int32_t>> ShardedKnnClassifier::predict(const Items& queries, const Options& options) const {
    return predictions<std::int32_t>(model(), queries, options, &ShardedModel::classes);
}

Result<ShardedKnnRegressor> ShardedKnnRegressor::fit(std::span<const Device> devices, const Items& points,
                                                     std::span<const float> targets, const NeighbourRule& rule,
                                                     const ShardOptions& shards, const Options& options) {
    return guarded([&]() -> Result<ShardedKnnRegressor> {
        auto model = sharded(devices, points, targets.size(), "targets", rule, shards, options);
        if (!model) return model.error();
        model.value()->targets.assign(targets.begin(), targets.end());
        return ShardedKnnRegressor(std::move(model).value());
    });
}

Result<std::vector<float>> ShardedKnnRegressor::predict(const Items& queries, const Options& options) const {
    return predictions<float>(model(), queries, options, &ShardedModel::targets);
}

}  // namespace espalier::inline v1
