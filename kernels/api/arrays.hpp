#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "espalier/options.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier {

/// Puts the arrays of one call where its device reaches them, aligned as its variants expect, and brings
/// the outputs back. What already is there is used in place. GPU variants may rely on the alignment that
/// cudaMalloc gives (textures and vector loads need it), CPU variants only on that of the element.
class Arrays {
public:
    /// Whether GPU variants of the family rely on the alignment of an array.
    enum class Address { aligned, any };

    Arrays(const DeviceState& device, const Options& options);

    /// An error may leave copies from or to the caller's memory under way: they end first.
    ~Arrays();
    Arrays(const Arrays&) = delete;
    Arrays& operator=(const Arrays&) = delete;

    /// The caller's input of `count` elements, where the device reaches it. Null if it is empty.
    template <class T>
    const T* input(const T* data, std::int64_t count, Address address = Address::aligned) {
        return static_cast<const T*>(place(const_cast<T*>(data), bytes<T>(count), Use::input, address));
    }

    /// The same for an input that is in host memory whatever the options say.
    template <class T>
    const T* host_input(const T* data, std::int64_t count) {
        return static_cast<const T*>(upload(data, bytes<T>(count)));
    }

    /// Memory for an output of `count` elements; `finish` brings it to `data`. Null if it is empty.
    template <class T>
    T* output(T* data, std::int64_t count) {
        return static_cast<T*>(place(data, bytes<T>(count), Use::output, Address::aligned));
    }

    /// Memory of a GPU for `count` elements that nobody reads afterwards. Null if there are none.
    template <class T>
    T* scratch(std::int64_t count) {
        return count > 0 ? reinterpret_cast<T*>(allocate(bytes<T>(count))) : nullptr;
    }

    /// Memory of the device that lives as long as this object.
    std::span<std::byte> workspace(std::size_t bytes);

    /// Enqueues the copies back of staged outputs and waits if the caller asked for it or gave host memory.
    void finish();

private:
    enum class Use { input, output };
    struct FreeAligned {
        void operator()(std::byte* data) const;
    };
    struct StagedOutput {
        void* to;
        const void* from;
        std::size_t bytes;
    };
    template <class T>
    static std::size_t bytes(std::int64_t count) {
        return static_cast<std::size_t>(count) * sizeof(T);
    }
    const void* upload(const void* data, std::size_t bytes);
    void* place(void* data, std::size_t bytes, Use use, Address address);
    std::byte* allocate(std::size_t bytes);

    bool on_gpu_;
    bool caller_on_gpu_;
    bool wait_;
    bool finished_ = false;
    Stream stream_;
    std::vector<device::StreamBuffer> gpu_memory_;
    std::unique_ptr<std::byte, FreeAligned> cpu_workspace_;
    std::vector<StagedOutput> staged_;
};

}  // namespace espalier
