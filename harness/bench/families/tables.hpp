#pragma once

#include <string_view>
#include <vector>

#include "harness/bench/families/domain.hpp"

namespace espalier::bench {

/// Tables whose rows are compared: of the UCI repository as they are split (iris, wine, breast cancer, digits, Landsat,
/// letter, adult), MNIST, the sets that neighbours are searched in (SIFT1M's 128 dimensions, Deep1M's 96), and vectors
/// of sentences and of a batch of images.
inline std::vector<std::string_view> table_traces() {
    return {"queries=30;points=120;dims=4",      "queries=36;points=142;dims=13",
            "queries=114;points=455;dims=30",    "queries=360;points=1437;dims=64",
            "queries=1;points=1437;dims=64",     "queries=2000;points=4435;dims=36",
            "queries=4000;points=16000;dims=16", "queries=16281;points=32561;dims=14",
            "queries=100;points=60000;dims=784", "queries=1000;points=50000;dims=384",
            "queries=1;points=100000;dims=768",  "queries=100;points=1000000;dims=128",
            "queries=10;points=1000000;dims=96", "queries=256;points=256;dims=512",
            "queries=1797;points=1797;dims=64"};
}

inline Alternatives metrics() {
    return {"metric", {{"euclidean", 4}, {"mixed_euclidean", 2}, {"manhattan", 1}, {"chebyshev", 1}, {"cosine", 1}}};
}

inline Alternatives missing_values() { return {"missing", {{"none", 3}, {"allowed", 1}}}; }

}  // namespace espalier::bench
