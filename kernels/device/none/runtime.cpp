// kernels/device/runtime.hpp for a library built without CUDA: there are no GPUs, and it says so.
// (The host executor is for tests; it must never be what a shipped library runs on.)

#include "kernels/device/runtime.hpp"

namespace espalier::device {
namespace {

constexpr int kNoDevice = 100;  // cudaErrorNoDevice

[[noreturn]] void refuse() { throw DeviceError(unavailable_reason(), kNoDevice); }

}  // namespace

int count() { return 0; }
std::string unavailable_reason() {
    return "this library was built without CUDA: build it with nvcc on the PATH and -DESPALIER_CUDA=ON to use GPUs";
}
DeviceInfo open(int) { refuse(); }
int current() { refuse(); }
void make_current(int) { refuse(); }

Buffer::Buffer(std::size_t) { refuse(); }
Buffer::~Buffer() = default;  // none was ever made
StreamBuffer::StreamBuffer(std::size_t, Stream) { refuse(); }
StreamBuffer::~StreamBuffer() = default;
PinnedBuffer::PinnedBuffer(std::size_t) { refuse(); }
PinnedBuffer::~PinnedBuffer() = default;
MemoryState memory_state() { refuse(); }

void copy_to_device(void*, const void*, std::size_t, Stream) { refuse(); }
void copy_to_host(void*, const void*, std::size_t, Stream) { refuse(); }
void copy_on_device(void*, const void*, std::size_t, Stream) { refuse(); }
void copy_rows_to_device(void*, const void*, const RowCopy&, Stream) { refuse(); }
void copy_rows_to_host(void*, const void*, const RowCopy&, Stream) { refuse(); }
void copy_rows_on_device(void*, const void*, const RowCopy&, Stream) { refuse(); }
void transpose(const float*, float*, std::int64_t, std::int64_t, Stream) { refuse(); }
Place place_of(const void*) { refuse(); }
void fill(void*, int, std::size_t, Stream) { refuse(); }
OwnedStream::OwnedStream() { refuse(); }
OwnedStream::~OwnedStream() = default;
Event::Event() { refuse(); }
Event::~Event() { static_cast<void>(event_); }  // clang wants it used
void Event::record(Stream) { refuse(); }
void Event::wait_for() const { refuse(); }
void Event::make_wait(Stream) const { refuse(); }
double Event::nanoseconds_since(const Event&) const { refuse(); }
void synchronize(Stream) { refuse(); }
void synchronize_all() { refuse(); }

}  // namespace espalier::device
