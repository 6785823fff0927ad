// one_warp_partials with neighbouring attributes for each thread instead of every 32nd, so that a warp reads words that
// lie a share apart. Source K 3.2.3 calls its reads uncoalesced and does not say how the attributes are dealt out;
// dealt out in turns, only cards before compute capability 1.2 could not coalesce them: rows of `dims` words start at
// any alignment. Up to 32 attributes both are the same.

#include "variants/distance/one_warp.cuh"

namespace espalier::distance {
namespace {

struct InShares {
    static constexpr std::int64_t kStep = 1;
    std::int64_t begin, end;

    __device__ InShares(unsigned thread, std::int64_t dims) {
        const std::int64_t share = (dims + kThreads - 1) / kThreads;
        begin = thread * share;
        end = min((thread + 1) * share, dims);
    }
};

}  // namespace

Variant<Problem> one_warp_shares() {
    return {.summary = "one_warp_partials with neighbouring attributes for each thread: uncoalesced",
            .source = "K 3.2.3",
            .limits = "needs the item-major copies; fewer than 2^31 distances",
            .tolerance = kDirectSum,
            .space = {},
            .supports = supports,
            .run = run<InShares>};
}

}  // namespace espalier::distance
