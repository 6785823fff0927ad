#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "device/kernel.hpp"
#include "variants/knn/chunk.hpp"

/// Host memory that a chunk's queries are gathered in before one copy takes them to the device, and that
/// its predictions come back to.
namespace espalier::knn {
namespace {

class Staging {
public:
    Staging(bool pinned, std::size_t bytes) : pinned_(pinned) {
        if (pinned)
            locked_ = device::PinnedBuffer(bytes);
        else
            pageable_ = std::make_unique<std::byte[]>(bytes);
        size_ = bytes;
    }

    [[nodiscard]] std::byte* data() const { return pinned_ ? locked_.data() : pageable_.get(); }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    bool pinned_;
    std::size_t size_ = 0;
    device::PinnedBuffer locked_;
    std::unique_ptr<std::byte[]> pageable_;
};

/// Staging memory that outlives the call: page-locking costs more than a copy, and whoever streams files
/// comes back with the next one. One per thread, kind and slot, as large as the largest chunk so far.
[[maybe_unused]] std::byte* staging(bool pinned, int slot, std::size_t bytes) {
    thread_local std::unique_ptr<Staging> kept[2][2];
    auto& memory = kept[pinned ? 1 : 0][slot];
    if (!memory || memory->size() < bytes) {
        memory.reset();
        memory = std::make_unique<Staging>(pinned, bytes);
    }
    return memory->data();
}

/// Bytes of staging for a chunk: its queries, or its predictions, which come when those are done with.
[[maybe_unused]] std::size_t staging_bytes(const Problem& problem, std::int64_t chunk) {
    return static_cast<std::size_t>(std::max<std::int64_t>(problem.dims, 1) * chunk) * sizeof(float);
}

/// The chunk's queries, attribute-major, into staging memory.
[[maybe_unused]] void gather_on_host(const Problem& problem, const Buffers& buffers, std::int64_t first,
                                     std::int64_t count, std::byte* to) {
    auto* const values = reinterpret_cast<float*>(to);
    for (std::int64_t a = 0; a < problem.dims; ++a)
        std::copy_n(buffers.on_host.query_values + a * problem.queries + first, count, values + a * count);
}

/// Queries of a chunk when there shall be `chunks` of them.
[[maybe_unused]] std::int64_t queries_per_chunk(const Problem& problem, int chunks) {
    return std::max<std::int64_t>((problem.queries + chunks - 1) / chunks, std::min<std::int64_t>(problem.queries, 1));
}

[[maybe_unused]] Support streaming_supports(const Problem& problem) {
    if (problem.queries_in != QueriesIn::host) return Support::no("streams queries from the host: queries_in=host");
    return pipeline_supports(problem);
}

}  // namespace
}  // namespace espalier::knn
