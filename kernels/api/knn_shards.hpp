#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "espalier/sharded_knn.hpp"
#include "kernels/api/knn_model.hpp"
#include "kernels/api/resident.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier {

class ShardSearch;

}  // namespace espalier

namespace espalier::inline v1 {

/// Some neighbouring points of a sharded model.
struct Shard {
    std::int64_t first = 0, count = 0;
    std::size_t device = 0;                              ///< which of the model's
    std::shared_ptr<const KnnModel> resident = nullptr;  ///< on that device, if it stays there
};

struct ShardedModel {
    /// What the shards of a device share, and the searches that no call is using.
    struct OnDevice {
        explicit OnDevice(const Device& of);
        ~OnDevice();

        Device device;
        Resident<std::int32_t> classes;  ///< zeros: every pipeline ends in a vote
        Resident<AttributeType> types;
        std::mutex mutex;
        std::vector<std::unique_ptr<ShardSearch>> idle;
    };

    Items points;  ///< the caller's
    std::vector<AttributeType> types;
    NeighbourRule rule;  ///< of these types
    std::vector<std::int32_t> classes;
    std::vector<double> targets;
    std::vector<Shard> shards;                       ///< in the order in which a call searches them
    std::vector<std::unique_ptr<OnDevice>> devices;  ///< their `idle` changes

    [[nodiscard]] Items points_of(const Shard& shard) const;

    /// The model of a shard whose points are on its device, attribute-major.
    [[nodiscard]] std::shared_ptr<const KnnModel> model_of(const Shard& shard, Resident<float> on_device) const;
};

}  // namespace espalier::inline v1

namespace espalier {

/// Memory of the current GPU, or for it, of so many bytes: what there is, or more.
template <class Buffer>
void make_room(Buffer& buffer, std::size_t bytes) {
    if (buffer.size() >= bytes) return;
    buffer = {};  // not both at once
    buffer = Buffer(bytes);
}

/// Brings items from host memory to a GPU in pieces, through page-locked memory unless they are in such: while one
/// piece is copied to the device, the next is gathered. The device must be current when it is made and used.
class Upload {
public:
    Upload() = default;
    ~Upload();
    Upload(const Upload&) = delete;
    Upload& operator=(const Upload&) = delete;

    /// Writes the items without gaps, in their layout. The last pieces may be under way when it returns.
    void bring(const Items& items, float* to);

    [[nodiscard]] Stream stream() const { return stream_.get(); }

private:
    struct Piece {
        device::PinnedBuffer memory;
        device::Event copied;
    };

    device::OwnedStream stream_;
    std::array<Piece, 4> pieces_;
    std::size_t turn_ = 0;
};

/// The nearest points of each query among the shards so far, a list after the other.
class MergedLists {
public:
    MergedLists(std::int64_t queries, std::int64_t k);

    /// Lists as these hold them, of points that are counted from `first` on.
    void merge(const float* distances, const std::int32_t* indices, std::int64_t first);

    [[nodiscard]] std::vector<float>& distances() { return distances_; }
    [[nodiscard]] std::vector<std::int32_t>& indices() { return indices_; }
    [[nodiscard]] const std::vector<float>& distances() const { return distances_; }
    [[nodiscard]] const std::vector<std::int32_t>& indices() const { return indices_; }

private:
    std::int64_t queries_, k_;
    std::vector<float> distances_;
    std::vector<std::int32_t> indices_;
};

/// Searches the shards of one device, one after the other, for the queries of one call at a time. The device must be
/// current where it is a GPU.
class ShardSearch {
public:
    ShardSearch() = default;
    virtual ~ShardSearch() = default;
    ShardSearch(const ShardSearch&) = delete;
    ShardSearch& operator=(const ShardSearch&) = delete;

    /// A call begins, whose arguments live until it ends. Options are those of a search.
    virtual void begin(const Items& queries, const Options& options, MergedLists& merged) = 0;

    /// Brings a shard to the device unless it is there, and searches it; that may be under way when this returns.
    virtual Result<void> search(const Shard& shard) = 0;

    /// The lists of all shards are merged when it returns.
    virtual void finish() = 0;
};

/// For a device of a model, which outlives it.
std::unique_ptr<ShardSearch> make_shard_search(const ShardedModel& model, const Device& device);

/// The model of a shard that stays on its GPU, the current one. `brought` is memory that is used meanwhile.
std::shared_ptr<const KnnModel> resident_shard(const ShardedModel& model, const Shard& shard, Upload& upload,
                                               device::Buffer& brought);

/// Enqueues on the current GPU: items without gaps, as the kernels have them.
void to_attribute_major_on_device(const Items& items, const float* from, float* to, Stream stream);

}  // namespace espalier
