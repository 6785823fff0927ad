#pragma once

#include <memory>
#include <vector>

#include "harness/bench/families/domain.hpp"
#include "harness/bench/families/family.hpp"
#include "harness/bench/families/published.hpp"
#include "harness/bench/families/workload.hpp"

namespace espalier::bench {

template <class P>
struct TypedEdgeCase {
    P problem;
    Pattern pattern = Pattern::uniform;
};

/// The facts that a family tells the harness beside its problem type and its variants. One function
/// `Suite<Problem> suite()` per family, in harness/bench/families/<family>.cpp, namespace of the family.
template <class P>
struct Suite {
    /// The problems of a default sweep.
    std::vector<P> (*default_problems)(DeviceKind, Effort) = nullptr;

    /// Small problems that every variant must get right: sizes 0 and 1, tile +-1, non-multiples,
    /// ties, NaN and infinities, limits +-1.
    std::vector<TypedEdgeCase<P>> (*edge_cases)() = nullptr;

    /// Real data for a problem.
    std::unique_ptr<Workload<P>> (*workload)(const P&, std::uint64_t seed, Pattern) = nullptr;

    /// Bytes of inputs and outputs together.
    std::size_t (*data_bytes)(const P&) = nullptr;

    /// The problems that the family is built for; none for a family without choices.
    Domain (*domain)(DeviceKind) = nullptr;

    /// The problems of `sweep --suite published`; none for a family that no source document prints figures of.
    std::vector<PublishedTable<P>> (*published)() = nullptr;

    /// The configurations of a variant that pin its stages (`pins_a_stage`), for `published`; none for a family whose
    /// variants have no stages.
    std::vector<Configuration> (*pinned)(const Variant<P>&) = nullptr;

    /// Features that all variants serve alike, so that learning leaves them out: what a sweep happens to vary together
    /// with the sizes would stand for these.
    std::vector<std::string_view> inert{};
};

/// The workload of a suite whose `W` is made from the same three things.
template <class W, class P>
std::unique_ptr<Workload<P>> make_workload(const P& problem, std::uint64_t seed, Pattern pattern) {
    return std::make_unique<W>(problem, seed, pattern);
}

}  // namespace espalier::bench
