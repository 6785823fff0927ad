#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/bench/tune/worker/inputs.hpp"
#include "harness/bench/tune/worker/module.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench::tune {

/// The arguments of a problem in a device's memory, each array between two guard bands that no kernel may write to.
class Arena {
public:
    /// Makes and copies the inputs. Throws `BadData` and `device::DeviceError`.
    Arena(const Description& description, std::size_t problem);

    /// What a launch takes: a pointer to each parameter's value. Symbols are no parameters.
    [[nodiscard]] void** arguments() { return pointers_.data(); }
    /// The bytes of each parameter.
    [[nodiscard]] std::vector<std::size_t> parameter_bytes() const;

    /// Copies what belongs there to a module's `__constant__` variables. Throws `device::DeviceError`, which names what
    /// is missing.
    void fill_symbols(Module& module);

    /// Poisons outputs that the kernel only writes, and restores those that it reads, too.
    void restore_outputs();

    /// The bytes of all outputs, one after the other.
    [[nodiscard]] std::vector<std::byte> outputs() const;
    /// Which array a kernel wrote past; empty if none. Repairs the bands.
    [[nodiscard]] std::string damage();
    /// How outputs differ from what is expected; empty if they do not.
    [[nodiscard]] std::string difference_from(const std::vector<std::byte>& expected) const;

private:
    struct Placed {
        HostArgument host;
        device::Buffer memory;    ///< of an array, with its bands
        void* address = nullptr;  ///< of its first element on the device
    };

    void mend_bands(const Placed& placed) const;

    const Description& description_;
    std::vector<Placed> placed_;
    std::vector<void*> pointers_;
};

}  // namespace espalier::bench::tune
