#include "kernels/api/arrays.hpp"

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
    bool staged = false;      ///< on the GPU, because it is on the host or not aligned
    bool transposed = false;  ///< in the kernels' layout
    bool scratch = false;

    [[nodiscard]] int count() const { return (staged ? 1 : 0) + (transposed ? 1 : 0) + (scratch ? 1 : 0); }
};

/// `data` may be null for an array whose address is not known yet.
Copies copies_of(const Transport& transport, const ArraySpec& spec, const void* data) {
    if (spec.count == 0) return {};
    if (spec.use == Use::scratch) return {.scratch = true};
    Copies copies{.transposed = spec.item_dims > 0};
    if (!transport.on_gpu()) return copies;
    // What is transposed is read by a kernel of our own, at any address.
    copies.staged = memory_of(transport, spec) == Memory::host ||
                    (!spec.any_address && !copies.transposed && !aligned_for_gpus(data));
    return copies;
}

bool overlap(const void* a, std::size_t bytes_a, const void* b, std::size_t bytes_b) {
    const auto begin_a = reinterpret_cast<std::uintptr_t>(a), begin_b = reinterpret_cast<std::uintptr_t>(b);
    return begin_a < begin_b + bytes_b && begin_b < begin_a + bytes_a;
}

std::optional<Error> wrong_address(const ArraySpec& spec, const void* data) {
    if (!data) return invalid(std::string(spec.name) + " is null");
    if (reinterpret_cast<std::uintptr_t>(data) % spec.element == 0) return std::nullopt;
    return invalid(std::string(spec.name) + " is not aligned to its elements of " + std::to_string(spec.element) +
                   " bytes");
}

/// What is wrong with where an array of a call on a GPU lies.
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
        if (overlap(pointers[output], specs[output].bytes(), pointers[other], specs[other].bytes()))
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
        if (overlap(pointers[i], spec.bytes(), workspace.data(), workspace.size()))
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

std::byte* bring_in(const Transport& transport, std::span<const ArraySpec> specs, std::span<void*> pointers,
                    std::byte* memory, Stream stream) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
        const ArraySpec& spec = specs[i];
        void*& data = pointers[i];
        if (spec.count == 0) {
            data = nullptr;
            continue;
        }
        const auto take = [&] {
            std::byte* const taken = memory;
            memory += padded(spec.bytes());
            return taken;
        };
        const Copies copies = copies_of(transport, spec, data);
        if (copies.scratch) data = take();
        if (copies.staged) {
            std::byte* const staged = take();
            if (spec.use == Use::input && memory_of(transport, spec) == Memory::host)
                device::copy_to_device(staged, data, spec.bytes(), stream);
            else if (spec.use == Use::input)
                device::copy_on_device(staged, data, spec.bytes(), stream);
            data = staged;
        }
        if (copies.transposed) {
            auto* const to = reinterpret_cast<float*>(take());
            const auto* const from = static_cast<const float*>(data);
            const std::int64_t count = spec.count / spec.item_dims;
            if (transport.on_gpu())
                device::transpose(from, to, count, spec.item_dims, stream);
            else
                to_attribute_major(from, to, count, spec.item_dims);
            data = to;
        }
    }
    return memory;
}

void bring_back(const Transport& transport, std::span<const ArraySpec> specs, std::span<void* const> from,
                std::span<void* const> to, Stream stream) {
    if (!transport.on_gpu()) return;
    for (std::size_t i = 0; i < specs.size(); ++i) {
        if (specs[i].use != Use::output || from[i] == to[i] || specs[i].count == 0) continue;
        if (memory_of(transport, specs[i]) == Memory::host)
            device::copy_to_host(to[i], from[i], specs[i].bytes(), stream);
        else
            device::copy_on_device(to[i], from[i], specs[i].bytes(), stream);
    }
}

}  // namespace espalier
