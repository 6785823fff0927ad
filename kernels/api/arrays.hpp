#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "espalier/distance.hpp"
#include "espalier/error.hpp"
#include "espalier/options.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/device/runtime.hpp"

/// The arrays of a call: what is wrong with them, how much memory bringing them to the device takes, and how their
/// host-device transfers go. Everything is known before anything runs, so that a plan can tell its workspace.
namespace espalier {

/// An array of a call, but for where it is.
struct ArraySpec {
    enum class Use : std::uint8_t {
        input,
        output,
        scratch,  ///< memory that nobody reads afterwards: the call passes no pointer
    };

    std::string_view name;
    std::int64_t count = 0;   ///< elements; an array of none may be null
    std::size_t element = 0;  ///< bytes
    Use use = Use::input;
    bool any_address = false;    ///< else GPU variants rely on the alignment that cudaMalloc gives
    bool on_host = false;        ///< in host memory whatever the options say
    std::int64_t item_dims = 0;  ///< of a set of floats that is item-major and has to be attribute-major; else 0

    // Variants read and write arrays without gaps; those of a caller may be parts of larger ones.
    std::int64_t rows = 1;   ///< of count / rows elements each
    std::size_t pitch = 0;   ///< bytes from one row to the next; 0 if there is nothing between them
    bool is_turned = false;  ///< an output of elements of 4 bytes that the variant writes column after column
    bool is_float = false;   ///< of numbers of single precision

    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(count) * element; }
    [[nodiscard]] std::size_t row_bytes() const { return bytes() / static_cast<std::size_t>(rows); }
    /// From the first byte of the caller's array to behind its last.
    [[nodiscard]] std::size_t extent() const {
        return pitch == 0 || count == 0 ? bytes() : static_cast<std::size_t>(rows - 1) * pitch + row_bytes();
    }
};

/// The array as rows that lie `stride` elements apart, 0 for as many as a row has; checked by `invalid_stride`.
inline ArraySpec in_rows(ArraySpec spec, std::int64_t rows, std::int64_t stride) {
    if (spec.count == 0 || rows <= 1) return spec;
    spec.rows = rows;
    if (stride != 0 && stride != spec.count / rows) spec.pitch = static_cast<std::size_t>(stride) * spec.element;
    return spec;
}

/// The rows of a result that the variant writes column after column.
inline ArraySpec turned(ArraySpec spec, std::int64_t rows, std::int64_t stride) {
    spec = in_rows(spec, rows, stride);
    spec.is_turned = spec.rows > 1 && spec.count > spec.rows;
    return spec;
}

template <class T>
ArraySpec input_of(std::string_view name, std::int64_t count) {
    return {.name = name, .count = count, .element = sizeof(T), .is_float = std::is_same_v<T, float>};
}
template <class T>
ArraySpec output_of(std::string_view name, std::int64_t count) {
    ArraySpec spec = input_of<T>(name, count);
    spec.use = ArraySpec::Use::output;
    return spec;
}
template <class T>
ArraySpec scratch_of(std::int64_t count) {
    return {.count = count, .element = sizeof(T), .use = ArraySpec::Use::scratch};
}

/// A set of items, which the variants read attribute-major.
inline ArraySpec items_of(std::string_view name, const Items& items) {
    const bool by_item = items.layout == Layout::item_major;
    ArraySpec spec =
        in_rows(input_of<float>(name, items.count * items.dims), by_item ? items.count : items.dims, items.stride);
    if (by_item && items.count > 1 && items.dims > 1) spec.item_dims = items.dims;
    return spec;
}

/// The pointers of a call's arrays, one per spec; as the caller gave them, or where the device reaches them.
template <std::size_t N>
using Pointers = std::array<void*, N>;

/// Where a call's arrays are and where they have to be.
struct Transport {
    const DeviceState* device;
    Memory memory;  ///< of the caller's arrays

    [[nodiscard]] bool on_gpu() const { return device->info.kind == DeviceKind::cuda; }
};

/// The alignment of workspaces and of GPU variants' arrays: what a texture's base address needs, and what
/// cudaMalloc therefore gives, on every architecture so far. On the CPU a cache line, and the widest vector.
inline constexpr std::size_t kGpuAlignment = 512, kCpuAlignment = 64;

inline std::size_t workspace_alignment(bool on_gpu) { return on_gpu ? kGpuAlignment : kCpuAlignment; }

/// Arrays must be there, aligned to their elements (which are scalars), in the memory that the options say, and no
/// output may overlap another array or the workspace. What lies between the rows of an array is no part of it: others
/// may.
std::optional<Error> wrong_arrays(const Transport& transport, std::span<const ArraySpec> specs,
                                  std::span<void* const> pointers, std::span<std::byte> workspace);

/// Bytes of workspace that hold the copies of these arrays. Without pointers: of arrays that are aligned.
std::size_t copies_bytes(const Transport& transport, std::span<const ArraySpec> specs,
                         std::span<void* const> pointers = {});

/// Whether a variant gets the caller's pointers as they are, wherever they point: on the CPU, if there is no copy to
/// make, and no array that is empty, for which it gets null.
bool are_in_place(const Transport& transport, std::span<const ArraySpec> specs);

/// Enqueues what brings the arrays to the device and replaces each pointer by where its array is then; null if it is
/// empty. Copies are put from `memory` on; returns what follows them.
std::byte* bring_in(const Transport& transport, std::span<const ArraySpec> specs, std::span<void*> pointers,
                    std::byte* memory, Stream stream);

/// Enqueues the copies of outputs back to where the caller wants them, and writes nothing between their rows.
void bring_back(const Transport& transport, std::span<const ArraySpec> specs, std::span<void* const> from,
                std::span<void* const> to, Stream stream);

}  // namespace espalier
