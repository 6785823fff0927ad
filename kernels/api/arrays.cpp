#include "kernels/api/arrays.hpp"

#include <algorithm>
#include <string>

#include "kernels/api/checks.hpp"
#include "kernels/api/items.hpp"

namespace espalier {
namespace {

using Use = ArraySpec::Use;

bool aligned_for_gpus(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % kGpuAlignment == 0; }

std::size_t padded(std::size_t bytes) { return (bytes + kGpuAlignment - 1) / kGpuAlignment * kGpuAlignment; }

Memory memory_of(const Transport& transport, const ArraySpec& spec) {
    return spec.on_host ? Memory::host : transport.memory;
}

/// Which copies of an array a call makes.
struct Copies {
    bool packed = false;  ///< without gaps between its rows: on the GPU, because it is on the host, not aligned or a
                          ///< view; on the CPU, because it is a view
    bool transposed = false;  ///< in the kernels' layout, or for an output in the caller's
    bool scratch = false;

    [[nodiscard]] int count() const { return (packed ? 1 : 0) + (transposed ? 1 : 0) + (scratch ? 1 : 0); }
};

/// `data` may be null for an array whose address is not known yet.
Copies copies_of(const Transport& transport, const ArraySpec& spec, const void* data) {
    if (spec.count == 0) return {};
    if (spec.use == Use::scratch) return {.scratch = true};
    const bool turns = spec.item_dims > 0 || spec.is_turned;
    if (!transport.on_gpu()) return {.packed = spec.pitch != 0 && !turns, .transposed = turns};
    // A transposed array is read and written by a kernel of our own, at any address.
    return {.packed = memory_of(transport, spec) == Memory::host || spec.pitch != 0 ||
                      (!spec.any_address && !turns && !aligned_for_gpus(data)),
            .transposed = turns};
}

/// The bytes of an array: rows that lie a pitch apart.
struct Extent {
    std::uintptr_t begin;
    std::size_t rows, row, pitch;

    Extent(const ArraySpec& spec, const void* data)
        : begin(reinterpret_cast<std::uintptr_t>(data)),
          rows(spec.pitch == 0 ? 1 : static_cast<std::size_t>(spec.rows)),
          row(spec.pitch == 0 ? spec.bytes() : spec.row_bytes()),
          pitch(spec.pitch) {}
    explicit Extent(std::span<const std::byte> bytes)
        : begin(reinterpret_cast<std::uintptr_t>(bytes.data())), rows(1), row(bytes.size()), pitch(0) {}

    [[nodiscard]] std::uintptr_t end() const { return begin + (rows - 1) * pitch + row; }
    /// Whether one of the rows has a byte in [from, to).
    [[nodiscard]] bool touches(std::uintptr_t from, std::uintptr_t to) const {
        if (row == 0 || to <= begin || from >= end()) return false;
        if (rows == 1 || from < begin + row) return true;
        // The first row that ends behind `from`.
        const std::size_t first = (from - begin - row) / pitch + 1;
        return first < rows && begin + first * pitch < to;
    }
};

/// Looks at each row of the array of fewer rows, and only if the arrays' extents overlap.
bool overlap(const Extent& a, const Extent& b) {
    if (a.begin >= b.end() || b.begin >= a.end()) return false;
    const Extent &few = a.rows <= b.rows ? a : b, &many = a.rows <= b.rows ? b : a;
    for (std::size_t r = 0; r < few.rows; ++r)
        if (few.row > 0 && many.touches(few.begin + r * few.pitch, few.begin + r * few.pitch + few.row)) return true;
    return false;
}

std::optional<Error> wrong_address(const ArraySpec& spec, const void* data) {
    if (!data) return invalid(std::string(spec.name) + " is null");
    // Elements are scalars, whose sizes are powers of two: no division, which takes as long as a small call's checks.
    if ((reinterpret_cast<std::uintptr_t>(data) & (spec.element - 1)) == 0) return std::nullopt;
    return invalid(std::string(spec.name) + " is not aligned to its elements of " + std::to_string(spec.element) +
                   " bytes");
}

/// Says what is wrong with the place of an array of a call on a GPU.
std::optional<Error> wrong_place(const Transport& transport, std::string_view name, const void* data, Memory memory) {
    const device::Place place = device::place_of(data);
    if (place.on_host && place.on_device) return std::nullopt;
    if (memory == Memory::host) {
        if (place.on_host) return std::nullopt;
        return invalid(std::string(name) + " is in a GPU's memory, but Options::memory is host: set it to device");
    }
    if (!place.on_device)
        return invalid(std::string(name) +
                       " is in host memory, or in none: arrays of a call with Options::memory device are on its GPU");
    if (place.ordinal == transport.device->ordinal) return std::nullopt;
    return invalid(std::string(name) + " is in the memory of GPU " + std::to_string(place.ordinal) +
                   ", but the call runs on GPU " + std::to_string(transport.device->ordinal));
}

std::optional<Error> overlaps(std::span<const ArraySpec> specs, std::span<void* const> pointers, std::size_t output) {
    for (std::size_t other = 0; other < specs.size(); ++other) {
        if (other == output || specs[other].count == 0 || specs[other].use == Use::scratch) continue;
        if (overlap({specs[output], pointers[output]}, {specs[other], pointers[other]}))
            return invalid(std::string(specs[output].name) + " and " + std::string(specs[other].name) +
                           " overlap: write to other memory");
    }
    return std::nullopt;
}

}  // namespace

std::optional<Error> wrong_arrays(const Transport& transport, std::span<const ArraySpec> specs,
                                  std::span<void* const> pointers, std::span<std::byte> workspace) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const ArraySpec& spec = specs[i];
        if (spec.count == 0 || spec.use == Use::scratch) continue;
        if (auto error = wrong_address(spec, pointers[i])) return error;
        if (!workspace.empty() && overlap({spec, pointers[i]}, Extent(workspace)))
            return invalid(std::string(spec.name) + " and the workspace overlap: use other memory");
        if (!transport.on_gpu()) continue;
        if (auto error = wrong_place(transport, spec.name, pointers[i], memory_of(transport, spec))) return error;
    }
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].use != Use::output || specs[i].count == 0) continue;
        if (auto error = overlaps(specs, pointers, i)) return error;
    }
    if (!workspace.empty() && transport.on_gpu())
        return wrong_place(transport, "the workspace", workspace.data(), Memory::device);
    return std::nullopt;
}

std::size_t copies_bytes(const Transport& transport, std::span<const ArraySpec> specs,
                         std::span<void* const> pointers) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < specs.size(); ++i)
        bytes +=
            static_cast<std::size_t>(copies_of(transport, specs[i], pointers.empty() ? nullptr : pointers[i]).count()) *
            padded(specs[i].bytes());
    return bytes;
}

bool are_in_place(const Transport& transport, std::span<const ArraySpec> specs) {
    return !transport.on_gpu() && std::ranges::all_of(specs, [&](const ArraySpec& spec) {
        return spec.count > 0 && copies_of(transport, spec, nullptr).count() == 0;
    });
}

namespace {

/// Copies of arrays that are put into a workspace one after another.
class Placed {
public:
    Placed(const Transport& transport, std::byte* memory, Stream stream)
        : transport_(transport), memory_(memory), stream_(stream) {}

    [[nodiscard]] std::byte* rest() const { return memory_; }

    /// Where the device reaches the array.
    void* bring(const ArraySpec& spec, void* data) {
        if (spec.count == 0) return nullptr;
        const Copies copies = copies_of(transport_, spec, data);
        if (spec.use == Use::input) {
            if (copies.packed) data = pack(spec, data);
            return copies.transposed ? transpose(spec, data) : data;
        }
        // The array that a variant writes comes first; `bring_back` knows that its transposed copy is next to it.
        if (copies.count() > 0) data = take(spec);
        if (copies.count() > 1) take(spec);
        return data;
    }

private:
    std::byte* take(const ArraySpec& spec) {
        std::byte* const taken = memory_;
        memory_ += padded(spec.bytes());
        return taken;
    }

    std::byte* pack(const ArraySpec& spec, const void* data) {
        std::byte* const to = take(spec);
        const bool from_host = memory_of(transport_, spec) == Memory::host;
        const device::RowCopy rows{static_cast<std::size_t>(spec.rows), spec.row_bytes(), spec.row_bytes(), spec.pitch};
        if (!transport_.on_gpu())
            copy_rows(to, data, rows);
        else if (spec.pitch != 0)
            (from_host ? device::copy_rows_to_device : device::copy_rows_on_device)(to, data, rows, stream_);
        else
            (from_host ? device::copy_to_device : device::copy_on_device)(to, data, spec.bytes(), stream_);
        return to;
    }

    std::byte* transpose(const ArraySpec& spec, const void* data) {
        std::byte* const to = take(spec);
        const auto* const from = static_cast<const float*>(data);
        const std::int64_t count = spec.count / spec.item_dims;
        const auto pitch = static_cast<std::int64_t>(spec.pitch / sizeof(float));
        if (transport_.on_gpu())
            device::transpose(from, reinterpret_cast<float*>(to), count, spec.item_dims, stream_);
        else
            to_attribute_major(from, reinterpret_cast<float*>(to), count, spec.item_dims,
                               pitch != 0 ? pitch : spec.item_dims);
        return to;
    }

    const Transport& transport_;
    std::byte* memory_;
    Stream stream_;
};

void bring_back_on_cpu(const ArraySpec& spec, const void* from, void* to) {
    const std::size_t row = spec.row_bytes(), pitch = spec.pitch != 0 ? spec.pitch : row;
    if (spec.is_turned)
        turn_back(from, to, spec.rows, spec.count / spec.rows, pitch);
    else
        copy_rows(to, from, {static_cast<std::size_t>(spec.rows), row, pitch, row});
}

void bring_back_from_gpu(const ArraySpec& spec, Memory memory, void* from, void* to, Stream stream) {
    const bool to_host = memory == Memory::host;
    if (spec.is_turned) {
        const std::int64_t columns = spec.count / spec.rows;
        const bool at_once = !to_host && spec.pitch == 0;
        void* const turned = at_once ? to : static_cast<std::byte*>(from) + padded(spec.bytes());
        // Bits are moved, whatever they stand for.
        device::transpose(static_cast<const float*>(from), static_cast<float*>(turned), columns, spec.rows, stream);
        if (at_once) return;
        from = turned;
    }
    if (spec.pitch == 0) {
        (to_host ? device::copy_to_host : device::copy_on_device)(to, from, spec.bytes(), stream);
        return;
    }
    const device::RowCopy rows{static_cast<std::size_t>(spec.rows), spec.row_bytes(), spec.pitch, spec.row_bytes()};
    (to_host ? device::copy_rows_to_host : device::copy_rows_on_device)(to, from, rows, stream);
}

}  // namespace

std::byte* bring_in(const Transport& transport, std::span<const ArraySpec> specs, std::span<void*> pointers,
                    std::byte* memory, Stream stream) {
    Placed placed(transport, memory, stream);
    for (std::size_t i = 0; i < specs.size(); ++i) pointers[i] = placed.bring(specs[i], pointers[i]);
    return placed.rest();
}

void bring_back(const Transport& transport, std::span<const ArraySpec> specs, std::span<void* const> from,
                std::span<void* const> to, Stream stream) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].use != Use::output || from[i] == to[i] || specs[i].count == 0) continue;
        if (transport.on_gpu())
            bring_back_from_gpu(specs[i], memory_of(transport, specs[i]), from[i], to[i], stream);
        else
            bring_back_on_cpu(specs[i], from[i], to[i]);
    }
}

}  // namespace espalier
