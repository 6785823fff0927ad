// A partial sort per row (sources K, P): the row is gathered as (value, index) entries, of which the
// standard library selects the first k with a heap. Any problem in either layout and of any type: the baseline of
// the CPU.

#include <algorithm>
#include <vector>

#include "kernels/core/variant.hpp"
#include "kernels/problems/smallest_k.hpp"
#include "variants/smallest_k/key_types.hpp"
#include "variants/smallest_k/order.hpp"

namespace espalier::smallest_k {
namespace {

Support supports(const Problem&, const Configuration&, const DeviceInfo&) { return Support::yes(); }

template <class T>
void select(const Problem& problem, const Buffers& buffers) {
    const auto columns = static_cast<std::size_t>(problem.columns), k = static_cast<std::size_t>(problem.k);
    // Rows shorter than k end in empty entries.
    std::vector<std::uint64_t> entries(std::max(columns, k), kEmptyEntry);
    for (std::int64_t r = 0; r < problem.rows; ++r) {
        for (std::int64_t c = 0; c < problem.columns; ++c)
            entries[static_cast<std::size_t>(c)] =
                entry_of(key_of(compared(keys_of<T>(buffers)[problem.at(r, c)])), static_cast<std::uint32_t>(c));
        const auto end = entries.begin() + problem.k;
        std::partial_sort(entries.begin(), end, entries.end());
        for (std::int64_t j = 0; j < problem.k; ++j) {
            const std::uint64_t entry = entries[static_cast<std::size_t>(j)];
            values_of<T>(buffers)[problem.result_at(r, j)] = stored<T>(value_as<Compared<T>>(key_of_entry(entry)));
            buffers.indices[problem.result_at(r, j)] = index_of_entry(entry);
        }
    }
}

void run(Context&, const Problem& problem, const Buffers& buffers, const Configuration&) {
    with_key_type(problem.keys, [&]<class T>(std::type_identity<T>) { select<T>(problem, buffers); });
}

}  // namespace

Variant<Problem> cpu_scalar() {
    return {.role = Role::baseline,
            .summary = "a partial sort per row",
            .source = "K, P",
            .tolerance = {.reason = "selects, computes nothing"},
            .space = {},
            .optional_features = {"layout", "keys"},
            .supports = supports,
            .run = run};
}

}  // namespace espalier::smallest_k
