// kernels/device/runtime.hpp on real GPUs.

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include "device/kernel.hpp"
#include "kernels/device/gpu_key.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::device {
namespace {

int attribute(cudaDeviceAttr which, int ordinal) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute");
    return value;
}

/// Not allocated for each comparison: freeing memory waits for all streams, and what is compared must be seen as it
/// is, not as late work leaves it.
__device__ int difference_found;

/// Sets `differs` if any byte does; whole words where both ranges are aligned alike.
__global__ void find_difference(const unsigned char* a, const unsigned char* b, std::size_t bytes, int* differs) {
    const std::size_t start = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
    const bool aligned = (reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b)) % 16 == 0;
    const std::size_t words = aligned ? bytes / 16 : 0;
    bool found = false;
    for (std::size_t i = start; i < words && !found; i += stride) {
        const uint4 x = reinterpret_cast<const uint4*>(a)[i], y = reinterpret_cast<const uint4*>(b)[i];
        found = x.x != y.x || x.y != y.y || x.z != y.z || x.w != y.w;
    }
    for (std::size_t i = words * 16 + start; i < bytes && !found; i += stride) found = a[i] != b[i];
    if (found) *differs = 1;
}

constexpr unsigned kTile = 32, kTileRows = 8;

/// 32 x 32 numbers through shared memory, so that both sides coalesce; a row of 33 words keeps its columns in different
/// banks. The grid strides, as its second dimension is shorter than a matrix may be.
__global__ void transpose_tiles(const float* from, float* to, std::int64_t rows, std::int64_t columns) {
    __shared__ float tile[kTile][kTile + 1];
    const std::int64_t left = static_cast<std::int64_t>(blockIdx.y) * kTile;
    for (std::int64_t top = static_cast<std::int64_t>(blockIdx.x) * kTile; top < rows;
         top += static_cast<std::int64_t>(gridDim.x) * kTile)
        for (std::int64_t first = left; first < columns; first += static_cast<std::int64_t>(gridDim.y) * kTile) {
            for (unsigned y = threadIdx.y; y < kTile; y += kTileRows)
                if (top + y < rows && first + threadIdx.x < columns)
                    tile[y][threadIdx.x] = from[(top + y) * columns + first + threadIdx.x];
            __syncthreads();
            for (unsigned y = threadIdx.y; y < kTile; y += kTileRows)
                if (first + y < columns && top + threadIdx.x < rows)
                    to[(first + y) * rows + top + threadIdx.x] = tile[threadIdx.x][y];
            __syncthreads();
        }
}

/// The part of the device's memory that a pool keeps for the next call when something is waited for, instead of giving
/// it back to the driver: to get 1 GiB again takes longer than many a kernel that needs it.
constexpr std::uint64_t kKeptPart = 32;

/// A pool of its own, so that the program's settings for the device's default pool and ours do not meet. Null where the
/// device has none.
cudaMemPool_t make_pool(int ordinal) {
    if (attribute(cudaDevAttrMemoryPoolsSupported, ordinal) == 0) return nullptr;
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, ordinal};
    cudaMemPool_t pool = nullptr;
    check(cudaMemPoolCreate(&pool, &properties), "cudaMemPoolCreate");
    std::uint64_t kept = memory_state().total / kKeptPart;
    check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "cudaMemPoolSetAttribute");
    return pool;
}

/// Made at the first use and never destroyed: buffers may be freed while the program ends.
cudaMemPool_t pool_of(int ordinal) {
    static std::mutex mutex;
    static auto& pools = *new std::map<int, cudaMemPool_t>;
    const std::lock_guard lock(mutex);
    if (const auto at = pools.find(ordinal); at != pools.end()) return at->second;
    return pools[ordinal] = make_pool(ordinal);
}

/// Asked of the driver once: it is the compiler's choice, and outlives a reset of the device.
std::size_t static_shared_bytes(const void* kernel, int ordinal) {
    static std::mutex mutex;
    static auto& known = *new std::map<std::pair<int, const void*>, std::size_t>;
    const std::lock_guard lock(mutex);
    if (const auto at = known.find({ordinal, kernel}); at != known.end()) return at->second;
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
    return known[{ordinal, kernel}] = attributes.sharedSizeBytes;
}

/// The driver copies rows that are less than 2 GiB apart at once; others go one by one.
void copy_rows(void* to, const void* from, const RowCopy& copy, cudaMemcpyKind kind, Stream stream) {
    if (copy.rows == 0 || copy.bytes == 0) return;
    constexpr std::size_t kMaxPitch = 0x7FFFFFFF;
    if (std::max(copy.to_pitch, copy.from_pitch) <= kMaxPitch) {
        check(cudaMemcpy2DAsync(to, copy.to_pitch, from, copy.from_pitch, copy.bytes, copy.rows, kind, stream),
              "copy rows");
        return;
    }
    for (std::size_t r = 0; r < copy.rows; ++r)
        check(cudaMemcpyAsync(static_cast<std::byte*>(to) + r * copy.to_pitch,
                              static_cast<const std::byte*>(from) + r * copy.from_pitch, copy.bytes, kind, stream),
              "copy a row");
}

cudaEvent_t as_event(void* event) { return static_cast<cudaEvent_t>(event); }

}  // namespace

void check(cudaError_t status, const char* what) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // or the next launch would be blamed for this call
    throw DeviceError(std::string(what) + ": " + cudaGetErrorString(status) + " (" + cudaGetErrorName(status) + ")",
                      static_cast<int>(status));
}

void allow_shared_memory(const void* kernel, std::size_t dynamic_bytes) {
    constexpr std::size_t kUnasked = 48 * 1024;
    int ordinal = 0;
    check(cudaGetDevice(&ordinal), "cudaGetDevice");
    const std::size_t own = static_shared_bytes(kernel, ordinal);
    if (own + dynamic_bytes <= kUnasked) return;
    // All that there is, whatever this launch needs: another thread may launch the kernel with more meanwhile.
    const int most = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, ordinal);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most - static_cast<int>(own)),
          "opting in to dynamic shared memory");
}

int count() {
    int devices = 0;
    return cudaGetDeviceCount(&devices) == cudaSuccess ? devices : 0;
}

std::string unavailable_reason() {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status == cudaSuccess && devices > 0) return {};
    if (status == cudaErrorInsufficientDriver)
        return "the NVIDIA driver is missing or older than this CUDA runtime: install or update the driver";
    return std::string("no usable GPU: ") + cudaGetErrorString(status == cudaSuccess ? cudaErrorNoDevice : status);
}

DeviceInfo open(int ordinal) {
    check(cudaSetDevice(ordinal), "cudaSetDevice");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
    DeviceInfo info;
    info.kind = DeviceKind::cuda;
    info.name = properties.name;
    info.key = gpu_key(info.name);
    info.uuid = uuid_text({properties.uuid.bytes, sizeof properties.uuid.bytes}, !mig_profile(info.name).empty());
    info.memory_bytes = properties.totalGlobalMem;
    info.l2_bytes = static_cast<std::size_t>(properties.l2CacheSize);
    info.sm = properties.major * 10 + properties.minor;
    info.sm_count = properties.multiProcessorCount;
    info.clock_khz = attribute(cudaDevAttrClockRate, ordinal);
    // Two transfers a clock; the bus is told in bits.
    info.nominal_bytes_per_second =
        2e3 * attribute(cudaDevAttrMemoryClockRate, ordinal) * attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal) / 8;
    info.max_threads_per_sm = properties.maxThreadsPerMultiProcessor;
    info.registers_per_sm = properties.regsPerMultiprocessor;
    info.shared_per_block = properties.sharedMemPerBlock;
    info.shared_per_block_optin = properties.sharedMemPerBlockOptin;
    info.shared_per_sm = properties.sharedMemPerMultiprocessor;
    info.constant_bytes = properties.totalConstMem;
    const cudaChannelFormatDesc one_float = cudaCreateChannelDesc<float>();
    std::size_t width = 0;
    check(cudaDeviceGetTexture1DLinearMaxWidth(&width, &one_float, ordinal), "cudaDeviceGetTexture1DLinearMaxWidth");
    info.texture_1d_linear_floats = static_cast<std::int64_t>(width);
    info.texture_2d_width = attribute(cudaDevAttrMaxTexture2DLinearWidth, ordinal);
    info.texture_2d_height = attribute(cudaDevAttrMaxTexture2DLinearHeight, ordinal);
    info.texture_2d_pitch = attribute(cudaDevAttrMaxTexture2DLinearPitch, ordinal);
    info.texture_pitch_alignment = static_cast<int>(properties.texturePitchAlignment);
    return info;
}

int current() {
    int ordinal = 0;
    check(cudaGetDevice(&ordinal), "cudaGetDevice");
    return ordinal;
}

void make_current(int ordinal) { check(cudaSetDevice(ordinal), "cudaSetDevice"); }

MemoryState memory_state() {
    MemoryState state;
    check(cudaMemGetInfo(&state.free, &state.total), "cudaMemGetInfo");
    return state;
}

Buffer::Buffer(std::size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    void* data = nullptr;
    check(cudaMalloc(&data, bytes), ("allocating " + std::to_string(bytes) + " bytes of device memory").c_str());
    data_ = static_cast<std::byte*>(data);
}
Buffer::~Buffer() { cudaFree(data_); }

StreamBuffer::StreamBuffer(std::size_t bytes, Stream stream) : stream_(stream) {
    if (bytes == 0) return;
    void* data = nullptr;
    const cudaMemPool_t pool = pool_of(current());
    const cudaError_t status = pool ? cudaMallocFromPoolAsync(&data, bytes, pool, stream) : cudaMalloc(&data, bytes);
    if (status != cudaSuccess)
        check(status, ("allocating " + std::to_string(bytes) + " bytes of device memory").c_str());
    data_ = static_cast<std::byte*>(data);
}
StreamBuffer::~StreamBuffer() {
    if (data_ != nullptr && cudaFreeAsync(data_, stream_) != cudaSuccess) {
        cudaGetLastError();
        cudaFree(data_);  // not of a pool
    }
}

PinnedBuffer::PinnedBuffer(std::size_t bytes) : size_(bytes) {
    if (bytes == 0) return;
    void* data = nullptr;
    check(cudaMallocHost(&data, bytes), ("pinning " + std::to_string(bytes) + " bytes of host memory").c_str());
    data_ = static_cast<std::byte*>(data);
}
PinnedBuffer::~PinnedBuffer() { cudaFreeHost(data_); }

void copy_to_device(void* to, const void* from, std::size_t bytes, Stream stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "copy to the device");
}
void copy_to_host(void* to, const void* from, std::size_t bytes, Stream stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "copy to the host");
}
void copy_on_device(void* to, const void* from, std::size_t bytes, Stream stream) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream), "copy on the device");
}
void copy_rows_to_device(void* to, const void* from, const RowCopy& copy, Stream stream) {
    copy_rows(to, from, copy, cudaMemcpyHostToDevice, stream);
}
void copy_rows_to_host(void* to, const void* from, const RowCopy& copy, Stream stream) {
    copy_rows(to, from, copy, cudaMemcpyDeviceToHost, stream);
}
void copy_rows_on_device(void* to, const void* from, const RowCopy& copy, Stream stream) {
    copy_rows(to, from, copy, cudaMemcpyDeviceToDevice, stream);
}
void fill(void* to, int byte, std::size_t bytes, Stream stream) {
    check(cudaMemsetAsync(to, byte, bytes, stream), "fill");
}

void transpose(const float* from, float* to, std::int64_t rows, std::int64_t columns, Stream stream) {
    if (rows == 0 || columns == 0) return;
    const auto tiles = [](std::int64_t count, std::int64_t most) {
        return static_cast<unsigned>(std::min((count + kTile - 1) / kTile, most));
    };
    launch(transpose_tiles, dim3(tiles(rows, 1 << 20), tiles(columns, 65535)), dim3(kTile, kTileRows), 0, stream, from,
           to, rows, columns);
}

Place place_of(const void* data) {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, data), "cudaPointerGetAttributes");
    switch (attributes.type) {
        case cudaMemoryTypeDevice: return {.on_device = true, .ordinal = attributes.device};
        case cudaMemoryTypeHost:
        case cudaMemoryTypeManaged: return {.on_host = true, .on_device = true, .ordinal = attributes.device};
        case cudaMemoryTypeUnregistered: break;
    }
    return {.on_host = true, .on_device = attribute(cudaDevAttrPageableMemoryAccess, current()) != 0};
}

bool equal(const void* a, const void* b, std::size_t bytes) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    void* flag = nullptr;
    check(cudaGetSymbolAddress(&flag, difference_found), "cudaGetSymbolAddress");
    fill(flag, 0, sizeof(int));
    if (bytes > 0)
        launch(find_difference, dim3(2048), dim3(256), 0, nullptr, static_cast<const unsigned char*>(a),
               static_cast<const unsigned char*>(b), bytes, static_cast<int*>(flag));
    int differs = 0;
    copy_to_host(&differs, flag, sizeof differs);
    synchronize();
    return differs == 0;
}

OwnedStream::OwnedStream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate"); }
OwnedStream::~OwnedStream() { cudaStreamDestroy(stream_); }

Event::Event() {
    cudaEvent_t event = nullptr;
    check(cudaEventCreate(&event), "cudaEventCreate");
    event_ = event;
}
Event::~Event() { cudaEventDestroy(as_event(event_)); }
void Event::record(Stream stream) { check(cudaEventRecord(as_event(event_), stream), "cudaEventRecord"); }
void Event::wait_for() const { check(cudaEventSynchronize(as_event(event_)), "cudaEventSynchronize"); }
void Event::make_wait(Stream stream) const {
    check(cudaStreamWaitEvent(stream, as_event(event_)), "cudaStreamWaitEvent");
}
double Event::nanoseconds_since(const Event& start) const {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, as_event(start.event_), as_event(event_)), "cudaEventElapsedTime");
    return static_cast<double>(milliseconds) * 1e6;
}

void synchronize(Stream stream) { check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"); }
void synchronize_all() { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

}  // namespace espalier::device
