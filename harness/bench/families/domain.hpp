#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/device_info.hpp"

namespace espalier::bench {

class Family;

/// Sizes that are multiples of a number; of 1: odd ones. Drawn by weight.
struct Aligned {
    std::int64_t multiple;
    int weight;
};

/// A size is a whole number from `least` to `most` whose logarithm is uniform.
struct SizeRange {
    std::string_view axis;
    std::int64_t least, most;
    std::vector<Aligned> alignments{};  ///< empty: as it comes
};

/// An axis of few values, as keys spell them, drawn by weight. Also those that no tree may ask for.
struct Alternatives {
    struct Value {
        std::string_view text;
        int weight;
    };
    std::string_view axis;
    std::vector<Value> values;
};

/// The value of `lesser`, an axis or derived feature, is at most that of `greater`.
struct Ordered {
    std::string_view lesser, greater;
};

/// The problems that a family is built for on a kind of device: what users have and what the sources used, fixed
/// before anything is measured (docs/unseen.md lists it). A grid is a sample of it as well, of somebody's making.
struct Domain {
    std::vector<SizeRange> sizes;
    std::vector<Alternatives> alternatives;
    std::vector<Ordered> orders{};
    std::size_t most_data_bytes = 0;         ///< inputs and outputs together
    double most_ops = 0;                     ///< of `cost()`
    std::vector<std::string_view> traces{};  ///< sizes that somebody has, "rows=256;columns=50257"; the rest is drawn

    /// Whether nothing is declared: for families without a choice to make.
    [[nodiscard]] bool empty() const { return sizes.empty(); }
};

/// Two samples of one domain that have no problem in common, whatever their seeds and sizes: a hash of the problem says
/// which of them may hold it.
enum class Stream { sweep, unseen };

/// Draws `count` different problems, as canonical keys, none of them in a default sweep of any effort. The points are
/// those of Sobol's sequence (I. M. Sobol, 1967; direction numbers of S. Joe and F. Y. Kuo, 2008, in Boost.Random),
/// randomised by a digital shift (P. L'Ecuyer and C. Lemieux, Recent advances in randomized quasi-Monte Carlo methods,
/// 2002) that is a hash of family, stream and seed. So more problems are the same ones and further ones. Every fourth
/// takes its sizes from a trace, as long as there are new ones. All arithmetic is of whole numbers: every machine draws
/// the same. Fewer come back where the domain holds no more, none where it is empty.
std::vector<std::string> draw_problems(const Family& family, DeviceKind kind, std::uint64_t seed, Stream stream,
                                       std::size_t count);

/// The stream that may hold a problem, by its canonical key.
Stream stream_of(std::string_view family, std::string_view key);

/// Whether a problem keeps the joint limits of a domain. Its sizes are looked at by `draw_problems` alone: a trace may
/// be beyond the ranges.
bool within_limits(const Family& family, const Domain& domain, std::string_view key);

}  // namespace espalier::bench
