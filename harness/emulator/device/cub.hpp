#pragma once

// The names of CUB's device-wide algorithms for the host compiler: a variant of gpu_only/ compiles
// here, so that its limits are known without nvcc, and throws if it is run.

#include "device/kernel.hpp"

namespace cub {

/// Two buffers of which one holds the current values.
template <class T>
struct DoubleBuffer {
    T* d_buffers[2] = {nullptr, nullptr};
    int selector = 0;

    DoubleBuffer() = default;
    DoubleBuffer(T* current, T* alternate) : d_buffers{current, alternate} {}
    T* Current() { return d_buffers[selector]; }
    T* Alternate() { return d_buffers[selector ^ 1]; }
};

// NOLINTBEGIN: CUB's own names. All of them take any arguments and throw.

struct DeviceRadixSort {
    template <class... Arguments>
    static cudaError_t SortKeys(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceRadixSort");
    }
    template <class... Arguments>
    static cudaError_t SortKeysDescending(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceRadixSort");
    }
    template <class... Arguments>
    static cudaError_t SortPairs(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceRadixSort");
    }
    template <class... Arguments>
    static cudaError_t SortPairsDescending(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceRadixSort");
    }
};

struct DeviceSegmentedRadixSort {
    template <class... Arguments>
    static cudaError_t SortKeys(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceSegmentedRadixSort");
    }
    template <class... Arguments>
    static cudaError_t SortPairs(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceSegmentedRadixSort");
    }
};

struct DeviceSegmentedSort {
    template <class... Arguments>
    static cudaError_t SortKeys(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceSegmentedSort");
    }
    template <class... Arguments>
    static cudaError_t StableSortKeys(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceSegmentedSort");
    }
    template <class... Arguments>
    static cudaError_t SortPairs(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceSegmentedSort");
    }
    template <class... Arguments>
    static cudaError_t StableSortPairs(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceSegmentedSort");
    }
};

struct DeviceReduce {
    template <class... Arguments>
    static cudaError_t Reduce(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceReduce");
    }
    template <class... Arguments>
    static cudaError_t Sum(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceReduce");
    }
    template <class... Arguments>
    static cudaError_t TransformReduce(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceReduce");
    }
};

struct DeviceHistogram {
    template <class... Arguments>
    static cudaError_t HistogramEven(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceHistogram");
    }
    template <class... Arguments>
    static cudaError_t HistogramRange(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceHistogram");
    }
    template <int Channels, int ActiveChannels, class... Arguments>
    static cudaError_t MultiHistogramEven(Arguments&&...) {
        espalier::device::host::needs_a_gpu("cub::DeviceHistogram");
    }
};

// NOLINTEND

}  // namespace cub
