#include "kernels/api/knn_shards.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/api/exact_search.hpp"
#include "kernels/api/items.hpp"

namespace espalier {
namespace {

/// Copies rows in host memory on all threads, also where there are no gaps between them and they are short.
void gather(std::byte* to, const void* from, const device::RowCopy& rows) {
    constexpr std::size_t kBlock = std::size_t{1} << 18;
    const std::size_t bytes = rows.rows * rows.bytes;
    if (rows.bytes != rows.from_pitch || bytes < kBlock) return copy_rows(to, from, rows);
    const std::size_t blocks = bytes / kBlock, whole = blocks * kBlock;
    copy_rows(to, from, {blocks, kBlock, kBlock, kBlock});
    std::memcpy(to + whole, static_cast<const std::byte*>(from) + whole, bytes - whole);
}

/// Memory that the GPU may read itself. (Where it reaches all memory of the host, that belongs to none.)
bool is_page_locked(const Items& items) {
    const device::Place place = device::place_of(items.values);
    return place.on_host && place.on_device && place.ordinal >= 0;
}

}  // namespace

Upload::~Upload() {
    try {
        device::synchronize(stream_.get());  // the pieces are read until then
    } catch (...) {
        // Whoever asked for the copy was told.
    }
}

void Upload::bring(const Items& items, float* to) {
    if (value_count(items) == 0) return;
    if (is_page_locked(items)) return device::copy_rows_to_device(to, items.values, rows_of(items), stream_.get());
    constexpr std::int64_t kPieceFloats = std::int64_t{1} << 22;  // 16 MiB
    const std::int64_t at_once = std::clamp<std::int64_t>(kPieceFloats / items.dims, 1, items.count);
    for (std::int64_t first = 0; first < items.count; first += at_once) {
        Piece& piece = pieces_[turn_++ % pieces_.size()];
        const Items part = part_of(items, first, std::min(at_once, items.count - first));
        const device::RowCopy rows = rows_of(part);
        const std::size_t bytes = rows.rows * rows.bytes;
        piece.copied.wait_for();
        make_room(piece.memory, bytes);
        gather(piece.memory.data(), part.values, rows);
        if (items.layout == Layout::item_major)
            device::copy_to_device(to + first * items.dims, piece.memory.data(), bytes, stream_.get());
        else
            device::copy_rows_to_device(
                to + first, piece.memory.data(),
                {rows.rows, rows.bytes, static_cast<std::size_t>(items.count) * sizeof(float), rows.bytes},
                stream_.get());
        piece.copied.record(stream_.get());
    }
}

namespace {

/// What fills a list comes last.
bool is_before(const exact::Neighbour& a, const exact::Neighbour& b) {
    if (a.index == kNoIndex || b.index == kNoIndex) return a.index != kNoIndex && b.index == kNoIndex;
    return exact::nearer(a, b);
}

/// One list of `k` entries, its own before what is merged into it.
void merge_list(float* distances, std::int32_t* indices, const float* other_distances,
                const std::int32_t* other_indices, std::int64_t first, std::int64_t k) {
    const auto other = [&](std::int64_t at) {
        const std::int32_t index = other_indices[at];
        return exact::Neighbour{other_distances[at],
                                index == kNoIndex ? index : static_cast<std::int32_t>(first + index)};
    };
    if (!is_before(other(0), {distances[k - 1], indices[k - 1]})) return;
    std::array<exact::Neighbour, kMaxSmallestK> own;
    for (std::int64_t j = 0; j < k; ++j) own[static_cast<std::size_t>(j)] = {distances[j], indices[j]};
    for (std::int64_t j = 0, mine = 0, theirs = 0; j < k; ++j) {
        const exact::Neighbour candidate = other(theirs), kept = own[static_cast<std::size_t>(mine)];
        const bool takes = is_before(candidate, kept);
        const exact::Neighbour next = takes ? candidate : kept;
        (takes ? theirs : mine) += 1;
        distances[j] = static_cast<float>(next.distance);
        indices[j] = next.index;
    }
}

}  // namespace

MergedLists::MergedLists(std::int64_t queries, std::int64_t k)
    : queries_(queries),
      k_(k),
      distances_(static_cast<std::size_t>(queries * k), std::numeric_limits<float>::quiet_NaN()),
      indices_(static_cast<std::size_t>(queries * k), kNoIndex) {}

void MergedLists::merge(const float* distances, const std::int32_t* indices, std::int64_t first) {
    constexpr std::int64_t kWorthThreads = 1 << 15;  // entries
#pragma omp parallel for schedule(static) if (queries_ * k_ >= kWorthThreads)
    for (std::int64_t q = 0; q < queries_; ++q)
        merge_list(distances_.data() + q * k_, indices_.data() + q * k_, distances + q * k_, indices + q * k_, first,
                   k_);
}

std::shared_ptr<const KnnModel> resident_shard(const ShardedModel& model, const Shard& shard, Upload& upload,
                                               device::Buffer& brought) {
    const Items points = model.points_of(shard);
    const std::size_t bytes = static_cast<std::size_t>(value_count(points)) * sizeof(float);
    make_room(brought, bytes);
    device::Buffer kept(bytes);
    upload.bring(points, brought.as<float>());
    to_attribute_major_on_device(points, brought.as<float>(), kept.as<float>(), upload.stream());
    device::synchronize(upload.stream());
    return model.model_of(shard, Resident<float>(std::move(kept)));
}

void to_attribute_major_on_device(const Items& items, const float* from, float* to, Stream stream) {
    if (items.layout == Layout::item_major)
        device::transpose(from, to, items.count, items.dims, stream);
    else
        device::copy_on_device(to, from, static_cast<std::size_t>(value_count(items)) * sizeof(float), stream);
}

}  // namespace espalier

namespace espalier::inline v1 {

ShardedModel::OnDevice::OnDevice(const Device& of) : device(of) {}
ShardedModel::OnDevice::~OnDevice() = default;

Items ShardedModel::points_of(const Shard& shard) const { return part_of(points, shard.first, shard.count); }

std::shared_ptr<const KnnModel> ShardedModel::model_of(const Shard& shard, Resident<float> on_device) const {
    const OnDevice& at = *devices[shard.device];
    const DeviceState& state = state_of(at.device);
    auto training = std::make_shared<TrainingSet>();
    training->types = types;
    training->device_types =
        Resident<AttributeType>::borrowed(state, at.types.data(), static_cast<std::int64_t>(types.size()));
    training->points = std::move(on_device);
    training->classes = Resident<std::int32_t>::borrowed(state, at.classes.data(), shard.count);
    return shared_model(unlabelled(at.device, points_of(shard), rule, std::move(training)));
}

}  // namespace espalier::inline v1
