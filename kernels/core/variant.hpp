#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/stream.hpp"
#include "kernels/core/configuration.hpp"
#include "kernels/core/device_info.hpp"
#include "kernels/core/support.hpp"

namespace espalier {

/// Why a variant is in the project.
enum class Role {
    documented,  ///< one of the source documents describes it
    modern,      ///< ours, beyond the documents
    baseline,    ///< the safe one: supports every problem of its family on its kind of device
    peer,        ///< somebody else's implementation, measured beside ours and never shipped
};

/// How far a result may lie from the oracle's, and why that much. Exact where both bounds are 0.
/// A value passes when |actual - expected| <= absolute + relative * scale, where the family's check
/// defines scale (usually |expected|).
struct Tolerance {
    double absolute = 0;
    double relative = 0;
    std::string_view reason;
    bool any_order = false;  ///< a list's elements may come in any order, and of equal ones any
};

/// Device, stream and memory that a variant runs with. The caller owns everything; `workspace` lives on the device.
struct Context {
    const DeviceInfo& device;
    Stream stream = nullptr;
    std::span<std::byte> workspace{};
};

/// One implementation of the operation whose instances are `P`.
/// Every file variants/<family>/<name>.{cpp,cu} defines `Variant<Problem> <name>()`.
template <class P>
struct Variant {
    using Buffers = typename P::Buffers;

    Role role = Role::documented;
    std::string_view summary;  ///< one line for listings: the idea
    std::string_view source;   ///< where it is described, e.g. "C 2.2"
    std::string_view limits;   ///< what it needs of problem or device, in words; empty if nothing
    Tolerance tolerance;
    std::string_view nondeterminism;  ///< why equal runs may differ within the tolerance; empty if they never do
    std::string_view waits;           ///< why `run` waits for its GPU or allocates memory; empty if it only enqueues
    std::string_view rounds;   ///< why results that single precision holds exactly may be rounded; empty if never
    std::string_view assumes;  ///< what arrays must hold for `run` to be right; empty if anything. Never chosen if not.
    ParameterSpace space;

    /// Optional features (see `Feature`) of which `supports` looks at the value; of all others it runs the default
    /// alone, but for those that only ask for less than the default (`Feature::relaxing`).
    std::vector<std::string_view> optional_features{};

    /// Never a bare no. Pure: asks only its arguments, so that it holds for devices that are not here.
    Support (*supports)(const P&, const Configuration&, const DeviceInfo&) = nullptr;

    /// Bytes of device memory that `run` needs beside the buffers; null means none.
    std::size_t (*workspace)(const P&, const Configuration&, const DeviceInfo&) = nullptr;

    /// Enqueues the work on `context.stream` (CPU variants return when done). May throw
    /// `DeviceError` or `std::bad_alloc`; callers turn those into values.
    void (*run)(Context& context, const P&, const Buffers&, const Configuration&) = nullptr;

    std::string_view name{};  ///< the file's name; filled in by the generated registry
};

}  // namespace espalier
