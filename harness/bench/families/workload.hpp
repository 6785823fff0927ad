#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "kernels/core/variant.hpp"

namespace espalier::bench {

/// The pattern of the values of generated inputs. A family reads each as fits it and says how.
enum class Pattern {
    uniform,   ///< random values: what sweeps measure unless the problem itself says otherwise
    constant,  ///< all the same: every comparison is a tie
    ascending,
    descending,
    special,  ///< NaN, infinities, denormals, signed zeros and extremes among ordinary values
};

/// The verdict of a check: empty if the result is right, else what is wrong where.
struct Mismatch {
    std::string description;
    explicit operator bool() const { return !description.empty(); }
};

/// One problem with real data on the host: its inputs, and the check of outputs against the oracle.
/// Knows nothing of devices, variants or timing.
template <class P>
class Workload {
public:
    virtual ~Workload() = default;

    /// The inputs, each to be copied to where the variant runs. Valid until `refresh`.
    [[nodiscard]] virtual std::vector<std::span<const std::byte>> inputs() const = 0;

    /// Bytes of each output.
    [[nodiscard]] virtual std::vector<std::size_t> output_bytes() const = 0;

    /// The family's buffers over memory that holds the inputs and takes the outputs, in that order.
    /// An empty input or output is a null pointer.
    [[nodiscard]] virtual typename P::Buffers bind(std::span<const std::byte* const> inputs,
                                                   std::span<std::byte* const> outputs) const = 0;

    /// Compares outputs with the oracle's for the current inputs (computed when first needed).
    [[nodiscard]] virtual Mismatch check(std::span<const std::span<const std::byte>> outputs,
                                         const Tolerance& tolerance) = 0;

    /// Takes these outputs as the expected ones of the current inputs instead of asking the oracle, for
    /// problems that are too large for it. False if the family cannot do so.
    [[nodiscard]] virtual bool adopt(std::span<const std::span<const std::byte>> /*outputs*/) { return false; }

    /// Called before each run: the stages of what runs are those that its configuration pins (`pins_a_stage`).
    virtual void pin_stages(const Configuration& /*configuration*/) {}

    /// The variants that have run as stages since the last call, "family/name" each.
    [[nodiscard]] virtual std::vector<std::string> take_stages_run() { return {}; }

    /// Replaces the inputs by fresh ones of the same shape and pattern.
    virtual void refresh(std::uint64_t seed) = 0;
};

/// View of typed memory as bytes and back, for implementing the interface above.
template <class T, class Allocator>
std::span<const std::byte> bytes_of(const std::vector<T, Allocator>& values) {
    return std::as_bytes(std::span(values));
}
template <class T>
std::span<const T> values_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
}

}  // namespace espalier::bench
