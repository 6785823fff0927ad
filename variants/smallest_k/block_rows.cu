// Row-major rows of any length, each a block's (block_rows.cuh).

#include <string>

#include "device/kernel.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/block_rows.cuh"

namespace espalier::smallest_k {
namespace {

using namespace device;

Support supports(const Problem& problem, const Configuration&, const DeviceInfo&) {
    if (!problem.has_rows()) return Support::no("reads rows: needs layout=row_major");
    if (problem.k > kMaxSmallestK) return Support::no("k above 1,024");
    if (problem.rows > 2147483647) return Support::no("more than 2,147,483,647 rows exceed the grid");
    return Support::yes();
}

template <class T, int threads, int per_thread>
void select(const Context& context, const Problem& problem, const Buffers& buffers) {
    launch_select<threads, per_thread>(context.stream, problem.rows, WholeRows{problem.columns}, problem.k,
                                       keys_of<T>(buffers), OwnColumn(), values_of<T>(buffers), buffers.indices);
}

template <class T, int threads>
void select(const Context& context, const Problem& problem, const Buffers& buffers, int per_thread) {
    if (per_thread == 16)
        select<T, threads, 16>(context, problem, buffers);
    else
        select<T, threads, 32>(context, problem, buffers);
}

template <class T>
void select(const Context& context, const Problem& problem, const Buffers& buffers, int threads, int per_thread) {
    switch (threads) {
        case 128: return select<T, 128>(context, problem, buffers, per_thread);
        case 512: return select<T, 512>(context, problem, buffers, per_thread);
        default: return select<T, 256>(context, problem, buffers, per_thread);
    }
}

void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (problem.results() == 0) return;
    with_key_type(problem.keys, [&]<class T>(std::type_identity<T>) {
        select<T>(context, problem, buffers, configuration["threads"], configuration["per_thread"]);
    });
}

}  // namespace

Variant<Problem> block_rows() {
    return {.role = Role::modern,
            .summary = "a block per row, stripe after stripe in registers, cut by the parts' minima, the rest sorted",
            .limits = "row-major or a single row; k <= 1,024",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {{"threads", {256, 128, 512}}, {"per_thread", {16, 32}}},
            .optional_features = {"layout", "keys"},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
