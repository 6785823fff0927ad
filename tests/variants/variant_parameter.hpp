#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <ostream>
#include <string>

#include "harness/bench/families/family.hpp"

namespace espalier::bench {

/// A variant as a parameter of tests, which its name is shown for.
struct VariantParameter {
    const Family* family;
    std::size_t variant;
};

inline void PrintTo(const VariantParameter& parameter, std::ostream* out) {
    *out << parameter.family->name() << "/" << parameter.family->variants()[parameter.variant].name;
}

inline std::string test_name(const testing::TestParamInfo<VariantParameter>& parameter) {
    const auto& [family, v] = parameter.param;
    return std::string(family->name()) + "_" + std::string(family->variants()[v].name);
}

}  // namespace espalier::bench
