// kernels/device/runtime.hpp on the CPU: device memory is host memory, streams run at once.

#include "kernels/device/runtime.hpp"

#include <chrono>
#include <cstring>
#include <optional>

#include "harness/emulator/device_heap.hpp"
#include "harness/emulator/errors.hpp"
#include "harness/emulator/limits.hpp"

struct CUstream_st {};  // a stream that runs at once needs nothing but an identity

namespace espalier::device {
namespace {

using host::CudaError;
using host::DeviceHeap;
using host::throw_error;

using TimePoint = std::optional<std::chrono::steady_clock::time_point>;

TimePoint& as_time(void* event) { return *static_cast<TimePoint*>(event); }

/// Device pointers must be device memory: a mistake that the CPU would forgive.
void require_device(const void* data, std::size_t bytes, const char* call) {
    if (bytes > 0 && !DeviceHeap::instance().contains(data, bytes)) throw_error(CudaError::invalid_value, call);
}

void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes > 0) std::memmove(to, from, bytes);
}

void copy_each_row(void* to, const void* from, const RowCopy& rows) {
    for (std::size_t r = 0; r < rows.rows; ++r)
        copy(static_cast<std::byte*>(to) + r * rows.to_pitch, static_cast<const std::byte*>(from) + r * rows.from_pitch,
             rows.bytes);
}

}  // namespace

int count() { return 1; }
std::string unavailable_reason() { return {}; }
int current() { return 0; }
void make_current(int ordinal) {
    if (ordinal != 0)
        throw DeviceError("the host executor has one GPU, with ordinal 0", 101);  // cudaErrorInvalidDevice
}

/// The limits are those of an H200, so that what a variant declines or accepts here it does there.
DeviceInfo open(int ordinal) {
    if (ordinal != 0) throw_error(CudaError::invalid_device, "cudaSetDevice");
    DeviceInfo info;
    info.kind = DeviceKind::cuda;
    info.key = "host-executor";
    info.name = "host executor (H200 limits)";
    info.emulated = true;
    info.memory_bytes = host::kDeviceMemory;
    info.l2_bytes = std::size_t{60} << 20;
    info.sm = 90;
    info.sm_count = 132;
    info.clock_khz = 1'980'000;
    info.max_threads_per_sm = 2048;
    info.registers_per_sm = 65536;
    info.shared_per_block = host::kStaticShared;
    info.shared_per_block_optin = host::kShared;
    info.shared_per_sm = 228 * 1024;
    info.constant_bytes = 64 * 1024;
    info.texture_1d_linear_floats = host::kTexture1DElements;
    info.texture_2d_width = host::kTexture2DWidth;
    info.texture_2d_height = host::kTexture2DHeight;
    info.texture_2d_pitch = host::kTexture2DPitch;
    info.texture_pitch_alignment = host::kTexturePitchAlignment;
    return info;
}

MemoryState memory_state() {
    return {.free = host::kDeviceMemory - DeviceHeap::instance().used(), .total = host::kDeviceMemory};
}

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
    if (bytes > 0) data_ = DeviceHeap::instance().allocate(bytes);
}
Buffer::~Buffer() {
    if (data_ != nullptr) DeviceHeap::instance().release(data_);
}

StreamBuffer::StreamBuffer(std::size_t bytes, Stream stream) : stream_(stream) {
    if (bytes > 0) data_ = DeviceHeap::instance().allocate(bytes);
}
StreamBuffer::~StreamBuffer() {
    if (data_ != nullptr) DeviceHeap::instance().release(data_);
}

PinnedBuffer::PinnedBuffer(std::size_t bytes) : size_(bytes) {
    if (bytes > 0) data_ = static_cast<std::byte*>(::operator new(bytes));
}
PinnedBuffer::~PinnedBuffer() { ::operator delete(data_); }

void copy_to_device(void* to, const void* from, std::size_t bytes, Stream) {
    require_device(to, bytes, "copy to the device");
    copy(to, from, bytes);
}
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream) {
    require_device(from, bytes, "copy to the host");
    copy(to, from, bytes);
}
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream) {
    require_device(to, bytes, "copy on the device");
    require_device(from, bytes, "copy on the device");
    copy(to, from, bytes);
}
void copy_rows_to_device(void* to, const void* from, const RowCopy& rows, Stream) {
    require_device(to, rows.extent(rows.to_pitch), "copy rows to the device");
    copy_each_row(to, from, rows);
}
void copy_rows_to_host(void* to, const void* from, const RowCopy& rows, Stream) {
    require_device(from, rows.extent(rows.from_pitch), "copy rows to the host");
    copy_each_row(to, from, rows);
}
void copy_rows_on_device(void* to, const void* from, const RowCopy& rows, Stream) {
    require_device(to, rows.extent(rows.to_pitch), "copy rows on the device");
    require_device(from, rows.extent(rows.from_pitch), "copy rows on the device");
    copy_each_row(to, from, rows);
}
void transpose(const float* from, float* to, std::int64_t rows, std::int64_t columns, Stream) {
    const auto bytes = static_cast<std::size_t>(rows * columns) * sizeof(float);
    require_device(from, bytes, "transpose");
    require_device(to, bytes, "transpose");
    for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t c = 0; c < columns; ++c) to[c * rows + r] = from[r * columns + c];
}

Place place_of(const void* data) {
    if (DeviceHeap::instance().contains(data, 1)) return {.on_device = true, .ordinal = 0};
    return {.on_host = true};
}

bool equal(const void* a, const void* b, std::size_t bytes) { return bytes == 0 || std::memcmp(a, b, bytes) == 0; }

void fill(void* to, int byte, std::size_t bytes, Stream) {
    require_device(to, bytes, "fill");
    if (bytes > 0) std::memset(to, byte, bytes);
}

OwnedStream::OwnedStream() : stream_(new CUstream_st) {}
OwnedStream::~OwnedStream() { delete stream_; }

Event::Event() : event_(new TimePoint) {}
Event::~Event() { delete &as_time(event_); }
void Event::record(Stream) { as_time(event_) = std::chrono::steady_clock::now(); }
void Event::wait_for() const {}
void Event::make_wait(Stream) const {}
double Event::nanoseconds_since(const Event& start) const {
    const TimePoint& from = as_time(start.event_);
    const TimePoint& to = as_time(event_);
    if (!from || !to) throw_error(CudaError::invalid_resource_handle, "cudaEventElapsedTime");
    return std::chrono::duration<double, std::nano>(*to - *from).count();
}

void synchronize(Stream) {}
void synchronize_all() {}

}  // namespace espalier::device
