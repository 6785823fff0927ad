#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <vector>

#include "harness/bench/tune/space/space.hpp"

namespace espalier::bench::tune {

/// A configuration that was tried.
struct Trial {
    Configuration configuration;
    std::optional<double> time_ns;  ///< nothing if it is invalid
};

/// Proposes which configurations of a problem to measure next: all of them, in random order, where there are few; else
/// random ones first and then those that a surrogate expects to be fast, or knows little of.
class Search {
public:
    /// All configurations are measured if there are at most `exhaustive`. Throws `BadData` if the conditions leave
    /// none.
    Search(const Description& description, std::size_t problem, std::size_t exhaustive, std::uint64_t seed);

    /// At most `count` that were not proposed before; empty when there are no more.
    std::vector<Configuration> propose(std::size_t count, std::span<const Trial> trials);

    /// How many there are; nothing if nobody counted them.
    [[nodiscard]] std::optional<std::size_t> configurations() const { return count_; }
    [[nodiscard]] bool exhaustive() const { return all_measured_; }

private:
    [[nodiscard]] std::vector<double> features_of(const Configuration& configuration) const;
    std::vector<Configuration> drawn(std::size_t count);
    [[nodiscard]] std::vector<Configuration> neighbours_of_best(std::span<const Trial> trials) const;
    std::vector<Configuration> by_surrogate(std::size_t count, std::span<const Trial> trials);

    const Description& description_;
    Space space_;
    std::mt19937_64 random_;
    std::optional<std::size_t> count_;
    bool all_measured_ = false;
    std::vector<Configuration> pool_;  ///< all there are, in random order, where they could be listed
    std::size_t next_ = 0;             ///< of the pool
    std::set<Configuration> proposed_;
};

}  // namespace espalier::bench::tune
