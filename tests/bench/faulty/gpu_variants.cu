// The faults of variants.cpp as kernels commit them, and those that only kernels can.

#include <array>
#include <random>

#include "device/kernel.hpp"
#include "tests/bench/faulty/variants.hpp"

namespace espalier::faulty {
namespace {

using namespace device;

constexpr int kThreads = 128;

enum class Fault {
    none,
    illegal_access,
    trap,
    never_ends,
    one_element,
    only_the_tail,
    one_input,
    first_element,
    past_the_end,
    before_the_start,
    late
};

__global__ void doubling(const std::uint32_t* in, std::uint32_t* out, std::int64_t size, Fault fault) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (fault == Fault::illegal_access) *reinterpret_cast<volatile std::uint32_t*>(16) = 1;
    if (fault == Fault::trap) __trap();
    while (fault == Fault::never_ends) __nanosleep(1000);
    if (fault == Fault::late)
        for (int wait = 0; wait < 20000; ++wait) __nanosleep(1000);
    if (fault == Fault::past_the_end && i == 0) out[size] = 0;
    if (fault == Fault::before_the_start && i == 0) out[-1] = 0;
    if (fault == Fault::only_the_tail && i >= size / 32 * 32) return;
    if (i >= size) return;
    const bool wrong = (fault == Fault::one_element && i == size / 2) || (fault == Fault::first_element && i == 0) ||
                       (fault == Fault::one_input && in[i] % 512 == 17);
    out[i] = wrong ? in[i] : 2 * in[i];
}

void start(const Problem& problem, const Buffers& buffers, Fault fault, Stream stream, int threads = kThreads) {
    const auto blocks = static_cast<unsigned>((problem.size + threads - 1) / threads);
    launch(doubling, dim3(blocks), dim3(static_cast<unsigned>(threads)), 0, stream, buffers.in, buffers.out,
           problem.size, fault);
}

template <Fault fault>
void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    start(problem, buffers, fault, context.stream);
}

void impossible_launch(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    start(problem, buffers, Fault::none, context.stream, 2048);  // no block has so many threads
}

/// More than is free, which nobody was told before.
void wants_too_much(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    const Buffer scratch(memory_state().free + (std::size_t{1} << 30));
    start(problem, buffers, Fault::none, context.stream);
}

void sometimes(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    static std::mt19937 random(7);
    start(problem, buffers, random() % 10 == 0 ? Fault::first_element : Fault::none, context.stream);
}

void only_once(Context& context, const Problem& problem, const Buffers& buffers, const Configuration&) {
    static bool done = false;
    if (!done) start(problem, buffers, Fault::none, context.stream);
    done = true;
}

/// In a stream that waits for no other and that nobody waits for.
void returns_early(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    static cudaStream_t own = [] {
        cudaStream_t stream = nullptr;
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream of its own");
        return stream;
    }();
    start(problem, buffers, Fault::late, own);
}

Support any(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }
std::size_t a_petabyte(const Problem&, const Configuration&, const DeviceInfo&) { return std::size_t{1} << 50; }

using Run = void (*)(Context&, const Problem&, const Buffers&, const Configuration&);

Registered<Problem> entry(std::string_view name, Run function, Role role = Role::documented) {
    Registered<Problem> result{};
    result.variant.role = role;
    result.variant.supports = any;
    result.variant.run = function;
    result.variant.name = name;
    result.kind = DeviceKind::cuda;
    result.gpu_only = true;
    result.path = "tests/bench/faulty/gpu_variants.cu";
    result.source_id = "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
    return result;
}

Registered<Problem> right() {
    auto result = entry("gpu_right", run<Fault::none>, Role::modern);
    result.variant.space = {{"block", {1, 2}}};
    return result;
}

Registered<Problem> greedy() {
    auto result = entry("gpu_greedy", run<Fault::none>);
    result.variant.workspace = a_petabyte;
    return result;
}

}  // namespace

std::span<const Registered<Problem>> gpu_registry() {
    static const std::array all{
        entry("gpu_before_the_start", run<Fault::before_the_start>),
        greedy(),
        entry("gpu_illegal_access", run<Fault::illegal_access>),
        entry("gpu_impossible_launch", impossible_launch),
        entry("gpu_never_ends", run<Fault::never_ends>),
        entry("gpu_one_element", run<Fault::one_element>),
        entry("gpu_one_input", run<Fault::one_input>),
        entry("gpu_only_once", only_once),
        entry("gpu_only_the_tail", run<Fault::only_the_tail>),
        entry("gpu_past_the_end", run<Fault::past_the_end>),
        entry("gpu_returns_early", returns_early),
        right(),
        entry("gpu_right_baseline", run<Fault::none>, Role::baseline),
        entry("gpu_sometimes", sometimes),
        entry("gpu_traps", run<Fault::trap>),
        entry("gpu_wants_too_much", wants_too_much),
    };
    return all;
}

}  // namespace espalier::faulty
