// CUB's batched top-k: a block selects from each row by radix digits. It writes the k smallest in no order and, of
// elements that tie for the last place, any; ours sort and take the lower index, which is more to do. The sizes are
// constants of the call, as CUB wants them.

#include <array>
#include <cub/device/device_batched_topk.cuh>
#include <cuda/iterator>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"

namespace espalier::smallest_k {
namespace {

/// Where row r of an array of rows begins.
template <class T, std::int64_t length>
struct RowBegin {
    T* array;
    __host__ __device__ T* operator()(std::int64_t row) const { return array + row * length; }
};

template <class T, std::int64_t length>
auto rows_of(T* array) {
    return cuda::transform_iterator(cuda::counting_iterator<std::int64_t>(0), RowBegin<T, length>{array});
}

template <int columns, int k>
cudaError_t select(void* memory, std::size_t& bytes, const Problem& problem, const Buffers& buffers, Stream stream) {
    using Columns = cuda::counting_iterator<std::int32_t>;
    const auto environment = cuda::std::execution::env{
        cuda::stream_ref{static_cast<cudaStream_t>(stream)},
        cuda::execution::require(cuda::execution::determinism::not_guaranteed, cuda::execution::tie_break::unspecified,
                                 cuda::execution::output_ordering::unsorted)};
    return cub::DeviceBatchedTopK::MinPairs(
        memory, bytes, rows_of<const float, columns>(buffers.distances), rows_of<float, k>(buffers.values),
        cuda::constant_iterator<Columns>(Columns(0)), rows_of<std::int32_t, k>(buffers.indices),
        cuda::args::constant<columns>{}, cuda::args::constant<k>{}, problem.rows, environment);
}

struct Instance {
    std::int64_t columns, k;
    cudaError_t (*select)(void*, std::size_t&, const Problem&, const Buffers&, Stream);
};

template <int columns, int k>
constexpr Instance instance() {
    return {columns, k, select<columns, k>};
}

constexpr std::array kInstances{
    instance<64, 8>(),    instance<64, 32>(),    instance<256, 1>(),    instance<256, 8>(),     instance<256, 32>(),
    instance<256, 128>(), instance<1000, 10>(),  instance<1000, 50>(),  instance<1024, 1>(),    instance<1024, 8>(),
    instance<1024, 32>(), instance<1024, 128>(), instance<1024, 512>(), instance<1024, 1024>(), instance<2048, 8>(),
    instance<2048, 32>(), instance<2048, 128>(), instance<5000, 8>(),   instance<5000, 32>(),   instance<5000, 50>(),
    instance<5000, 128>()};

const Instance* find_instance(const Problem& problem) {
    for (const Instance& instance : kInstances)
        if (instance.columns == problem.columns && instance.k == problem.k) return &instance;
    return nullptr;
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (!problem.has_rows()) return Support::no("reads rows: needs layout=row_major");
    if (problem.rows == 0) return Support::no("it refuses empty matrices");
    if (!find_instance(problem))
        return Support::no("its rows fit one block, and its sizes are constants: compiled are 64 to 5,000 columns");
    return Support::yes();
}

/// CUB says with a null pointer what it needs. It launches nothing then.
std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo&) {
    std::size_t bytes = 0;
    device::check(find_instance(problem)->select(nullptr, bytes, problem, {}, nullptr), "sizing the batched top-k");
    return bytes;
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    std::size_t bytes = context.workspace.size();
    std::byte one{};  // null asks for the size
    void* const memory = bytes > 0 ? static_cast<void*>(context.workspace.data()) : &one;
    device::check(find_instance(problem)->select(memory, bytes, problem, buffers, context.stream), "batched top-k");
}

}  // namespace

Variant<Problem> peer_cub_batched_topk() {
    return {.role = Role::peer,
            .summary = "cub::DeviceBatchedTopK::MinPairs, unsorted, any of equal elements",
            .source = "CCCL " ESPALIER_PEER_CCCL_VERSION,
            .limits = "row-major; rows of one block; the listed sizes",
            .tolerance = {.reason = "selects, computes nothing", .any_order = true},
            .nondeterminism = "of equal elements any may be taken",
            .space = {},
            .optional_features = {"layout"},
            .supports = supports,
            .workspace = workspace,
            .run = run};
}

}  // namespace espalier::smallest_k
