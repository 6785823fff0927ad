#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/core/device_traits.hpp"
#include "kernels/core/selector.hpp"
#include "kernels/dispatch/similar_trees.hpp"

namespace espalier {
namespace detail {

/// All of a device that the order of trees hangs on. Frees nothing, so that a thread may end after the library has
/// gone.
class RememberedDevice {
public:
    /// False if its names are too long to be kept: then it is none.
    bool remember(const DeviceInfo& device) {
        numbers_ = numbers_of(device);
        const bool fits = key_.keep(device.key) && design_.keep(device.microarchitecture);
        if (!fits) *this = {};
        return fits;
    }

    [[nodiscard]] bool is(const DeviceInfo& device) const {
        return key_.text() == device.key && design_.text() == device.microarchitecture &&
               numbers_ == numbers_of(device);
    }

private:
    template <std::size_t capacity>
    class Name {
    public:
        bool keep(std::string_view name) {
            if (name.size() > capacity) return false;
            std::ranges::copy(name, letters_.begin());
            size_ = name.size();
            return true;
        }
        [[nodiscard]] std::string_view text() const { return {letters_.data(), size_}; }

    private:
        std::array<char, capacity> letters_{};
        std::size_t size_ = 0;
    };

    Name<64> key_;
    Name<32> design_;
    DeviceNumbers numbers_;
};

}  // namespace detail

/// The tree that `SimilarTrees` gives first, null if there is none. Each thread remembers it for the device that it
/// asked about last: comparing the device to all trees takes several times as long as a walk from root to leaf. For
/// trees that are never changed nor freed, as those of `tables<P>()`.
template <class P>
const Selector<P>* nearest_tree(std::span<const Selector<P>> all, const DeviceInfo& device) {
    struct Memory {
        std::span<const Selector<P>> all;
        const Selector<P>* nearest = nullptr;
        detail::RememberedDevice device;
    };
    thread_local constinit Memory memory;
    if (memory.nearest && memory.all.data() == all.data() && memory.all.size() == all.size() &&
        memory.device.is(device))
        return memory.nearest;
    const Selector<P>* const nearest = SimilarTrees<P>(all, device).next();
    memory.all = all;
    memory.nearest = memory.device.remember(device) ? nearest : nullptr;
    return nearest;
}

}  // namespace espalier
