#include "kernels/api/arrays.hpp"

#include <cstdint>
#include <new>

namespace espalier {
namespace {

// What a texture's base address needs, and what cudaMalloc therefore gives, on every architecture so far.
constexpr std::uintptr_t kGpuAlignment = 512;

// A cache line, and the widest vector.
constexpr std::align_val_t kCpuAlignment{64};

bool aligned(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % kGpuAlignment == 0; }

}  // namespace

void Arrays::FreeAligned::operator()(std::byte* data) const { ::operator delete(data, kCpuAlignment); }

Arrays::Arrays(const DeviceState& device, const Options& options)
    : on_gpu_(device.info.kind == DeviceKind::cuda),
      caller_on_gpu_(options.memory == Memory::device),
      wait_(options.wait || !caller_on_gpu_),
      stream_(options.stream) {}

Arrays::~Arrays() {
    if (finished_ || !on_gpu_ || caller_on_gpu_) return;
    try {
        device::synchronize(stream_);
    } catch (const device::DeviceError&) {
        // The caller is told of what came first.
    }
}

std::byte* Arrays::allocate(std::size_t bytes) { return gpu_memory_.emplace_back(bytes, stream_).data(); }

const void* Arrays::upload(const void* data, std::size_t bytes) {
    if (bytes == 0) return nullptr;
    if (!on_gpu_) return data;
    std::byte* staged = allocate(bytes);
    device::copy_to_device(staged, data, bytes, stream_);
    return staged;
}

void* Arrays::place(void* data, std::size_t bytes, Use use, Address address) {
    if (bytes == 0) return nullptr;
    if (!on_gpu_ || (caller_on_gpu_ && (address == Address::any || aligned(data)))) return data;
    if (use == Use::input && !caller_on_gpu_) return const_cast<void*>(upload(data, bytes));
    std::byte* staged = allocate(bytes);
    if (use == Use::output)
        staged_.push_back({data, staged, bytes});
    else
        device::copy_on_device(staged, data, bytes, stream_);
    return staged;
}

std::span<std::byte> Arrays::workspace(std::size_t bytes) {
    if (bytes == 0) return {};
    if (on_gpu_) return {allocate(bytes), bytes};
    cpu_workspace_.reset(static_cast<std::byte*>(::operator new(bytes, kCpuAlignment)));
    return {cpu_workspace_.get(), bytes};
}

void Arrays::finish() {
    for (const StagedOutput& output : staged_) {
        if (caller_on_gpu_)
            device::copy_on_device(output.to, output.from, output.bytes, stream_);
        else
            device::copy_to_host(output.to, output.from, output.bytes, stream_);
    }
    if (on_gpu_ && wait_) device::synchronize(stream_);
    finished_ = true;
}

}  // namespace espalier
