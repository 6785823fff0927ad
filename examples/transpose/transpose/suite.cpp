// The oracle, the arrays and the domain of the family: everything else has defaults.

#include "harness/bench/families/plain.hpp"
#include "transpose/problem.hpp"

namespace espalier::bench::transpose {

using namespace ::espalier::transpose;

namespace {

std::int64_t elements(const Problem& problem) { return problem.rows * problem.columns; }

struct Transpose : Plain<Problem> {
    static Arrays arrays() { return {in<&Buffers::in>("in", elements), out<&Buffers::out>("out", elements)}; }

    static void oracle(const Problem& problem, const Buffers& in, Expected& expected) {
        for (std::int64_t r = 0; r < problem.rows; ++r)
            for (std::int64_t c = 0; c < problem.columns; ++c)
                expected[0].values[c * problem.rows + r] = in.in[r * problem.columns + c];
    }

    /// From a few cache lines to a quarter of a gigabyte, and shapes that somebody has: images, tables, weights.
    static Domain domain(DeviceKind kind) {
        const std::int64_t most = kind == DeviceKind::cpu ? 4096 : 16384;
        return {
            .sizes = {{"rows", 16, most, {{16, 2}, {4, 1}, {1, 1}}}, {"columns", 16, most, {{16, 2}, {4, 1}, {1, 1}}}},
            .most_data_bytes = std::size_t{1} << (kind == DeviceKind::cpu ? 26 : 29),
            .most_ops = 1e9,
            .traces = {"rows=1080;columns=1920", "rows=60000;columns=784", "rows=768;columns=3072"}};
    }
};

}  // namespace

Suite<Problem> suite() { return plain_suite<Transpose>(); }

}  // namespace espalier::bench::transpose
