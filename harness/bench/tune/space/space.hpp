#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "harness/bench/tune/describe/description.hpp"

namespace espalier::bench::tune {

/// A configuration: the place of each parameter's value among its values.
using Configuration = std::vector<std::size_t>;

/// The configurations that the conditions of a problem leave. A condition is asked as soon as the parameters that it
/// asks for have values, so that what it rules out is never gone through.
class Space {
public:
    /// `description` must outlive the space. Throws `BadData` where a condition has no value for the problem.
    Space(const Description& description, std::size_t problem);

    /// All configurations, the last parameter running fastest; nothing if there are more than `most`.
    [[nodiscard]] std::optional<std::vector<Configuration>> all(std::size_t most) const;

    /// One at random; nothing if there is none. Each is possible, but not all are equally likely: those that few share
    /// their first values with come more often.
    [[nodiscard]] std::optional<Configuration> draw(std::mt19937_64& random) const;

    /// Whether the conditions leave this one.
    [[nodiscard]] bool holds(const Configuration& configuration) const;

    /// Without the conditions, as a floating-point number: products of many lists are large.
    [[nodiscard]] double unrestricted() const;

private:
    /// False ends the walk.
    using Visit = std::function<bool(const Configuration&)>;
    using Order = std::function<std::vector<std::size_t>(std::size_t values)>;
    [[nodiscard]] bool allowed(std::size_t parameters, const Names& names) const;
    bool walk(Configuration& configuration, Names& names, const Order& order, const Visit& visit) const;

    const Description& description_;
    Names sizes_;
    std::vector<std::vector<const Condition*>> due_;  ///< conditions to ask once so many parameters have values
};

}  // namespace espalier::bench::tune
