#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "kernels/core/device_info.hpp"
#include "kernels/core/variant.hpp"

/// The host's side of a GPU: memory, copies, streams, events. No CUDA header is needed to use it.
/// Two implementations of this header exist and the link chooses: device/cuda drives real GPUs,
/// harness/emulator the host executor, which runs the same kernels on the CPU for the tests.
namespace espalier::device {

/// The device or its driver refused something; `what()` names the call and the driver's reason.
class DeviceError : public std::runtime_error {
public:
    DeviceError(std::string message, int code) : std::runtime_error(std::move(message)), code_(code) {}
    [[nodiscard]] int code() const { return code_; }  ///< cudaError_t's value; 2 is out of memory
    [[nodiscard]] bool out_of_memory() const { return code_ == 2; }

private:
    int code_;
};

/// Usable GPUs; 0 where there is no driver or no card. The host executor counts as one emulated GPU.
int count();

/// Why `count()` is 0, in words that name the fix; empty if it is not.
std::string unavailable_reason();

/// Describes GPU `ordinal` and makes it the current one of the calling thread.
DeviceInfo open(int ordinal);

/// The calling thread's current GPU, and how to change it. `open` is the slow way: it also describes.
int current();
void make_current(int ordinal);

/// Free and total bytes of the current GPU.
struct MemoryState {
    std::size_t free = 0, total = 0;
};
MemoryState memory_state();

/// Device memory of exactly this size (no hidden padding that could hide an overrun). Movable.
class Buffer {
public:
    Buffer() = default;
    explicit Buffer(std::size_t bytes);
    ~Buffer();
    Buffer(Buffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    template <class T>
    [[nodiscard]] T* as() const {
        return reinterpret_cast<T*>(data_);
    }

private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Device memory that is made and freed in the order of a stream's work: neither waits for it, and what was freed is
/// kept for the next one of the device. Movable.
class StreamBuffer {
public:
    StreamBuffer() = default;
    StreamBuffer(std::size_t bytes, Stream stream);
    ~StreamBuffer();
    StreamBuffer(StreamBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), stream_(other.stream_) {}
    StreamBuffer& operator=(StreamBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(stream_, other.stream_);
        return *this;
    }

    [[nodiscard]] std::byte* data() const { return data_; }

private:
    std::byte* data_ = nullptr;
    Stream stream_ = nullptr;
};

/// Page-locked host memory, which copies at full speed and asynchronously. Movable.
class PinnedBuffer {
public:
    PinnedBuffer() = default;
    explicit PinnedBuffer(std::size_t bytes);
    ~PinnedBuffer();
    PinnedBuffer(PinnedBuffer&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }

    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Copies enqueued on `stream`. Pageable host memory makes them synchronous.
void copy_to_device(void* to, const void* from, std::size_t bytes, Stream stream = nullptr);
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream stream = nullptr);
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream = nullptr);
void fill(void* to, int byte, std::size_t bytes, Stream stream = nullptr);

/// Rows of memory to copy: how many of how many bytes each, and how many from one to the next on either side.
struct RowCopy {
    std::size_t rows = 0, bytes = 0, to_pitch = 0, from_pitch = 0;

    /// From the first byte to behind the last of one side.
    [[nodiscard]] std::size_t extent(std::size_t pitch) const { return rows == 0 ? 0 : (rows - 1) * pitch + bytes; }
};

/// As the copies above. What lies between the rows is left alone.
void copy_rows_to_device(void* to, const void* from, const RowCopy& copy, Stream stream = nullptr);
void copy_rows_to_host(void* to, const void* from, const RowCopy& copy, Stream stream = nullptr);
void copy_rows_on_device(void* to, const void* from, const RowCopy& copy, Stream stream = nullptr);

/// The rows of a matrix as columns: to[c * rows + r] = from[r * columns + c]. On the device, at any address.
void transpose(const float* from, float* to, std::int64_t rows, std::int64_t columns, Stream stream = nullptr);

/// Who reaches memory at an address: page-locked, managed or shared memory is on both sides, memory that was freed is
/// on the host as far as anybody can tell.
struct Place {
    bool on_host = false, on_device = false;
    int ordinal = -1;  ///< of the GPU whose memory it is; -1 if it belongs to none
};
Place place_of(const void* data);

/// Whether two ranges of device memory hold the same bytes. Waits for the answer.
[[nodiscard]] bool equal(const void* a, const void* b, std::size_t bytes);

/// A stream of its own, destroyed with the object.
class OwnedStream {
public:
    OwnedStream();
    ~OwnedStream();
    OwnedStream(const OwnedStream&) = delete;
    OwnedStream& operator=(const OwnedStream&) = delete;
    [[nodiscard]] Stream get() const { return stream_; }

private:
    Stream stream_ = nullptr;
};

/// A point in a stream whose time can be asked for.
class Event {
public:
    Event();
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    void record(Stream stream = nullptr);
    void wait_for() const;                ///< blocks the host until the event has happened
    void make_wait(Stream stream) const;  ///< makes `stream` wait for the event, not the host
    [[nodiscard]] double nanoseconds_since(const Event& start) const;

private:
    void* event_ = nullptr;
};

/// Waits for everything on `stream` and throws what any of it failed with.
void synchronize(Stream stream = nullptr);

/// Waits for every stream of the current GPU, also those that wait for no other, and throws what any of it failed with.
void synchronize_all();

}  // namespace espalier::device
