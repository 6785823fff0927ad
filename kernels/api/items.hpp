#pragma once

#include <memory>
#include <optional>
#include <string>

#include "espalier/distance.hpp"
#include "kernels/api/checks.hpp"

namespace espalier {

/// Transposes `count` items of `dims` numbers each, with all threads if there are many.
void to_attribute_major(const float* items, float* to, std::int64_t count, std::int64_t dims);

/// A set of items in host memory in the kernels' layout: the caller's own array, or a transposed copy.
class AttributeMajor {
public:
    explicit AttributeMajor(const Items& items);
    AttributeMajor(const AttributeMajor&) = delete;
    AttributeMajor& operator=(const AttributeMajor&) = delete;

    [[nodiscard]] const float* values() const { return values_; }

private:
    const float* values_;
    std::unique_ptr<float[]> copy_;
};

inline std::int64_t value_count(const Items& items) { return items.count * items.dims; }

/// What is wrong with a set of another size or layout than the one planned for, whose values are of no account.
std::optional<Error> other_items(const Items& items, const std::string& name, const Items& planned);

/// What is wrong with a value of `Missing`.
std::optional<Error> invalid_missing(Missing missing);

/// What two sets of items and the rule to compare them must fulfil, apart from their values.
std::optional<Error> invalid_comparison(const Items& queries, const Items& points, const DistanceRule& rule);

}  // namespace espalier
