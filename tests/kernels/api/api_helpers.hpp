#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/espalier.hpp"

namespace espalier {

/// Every device that the program can use: the CPU, and GPU 0 (a real one, or the host executor's).
inline std::vector<Device> usable_devices() {
    std::vector all{Device::cpu()};
    if (const auto gpu = Device::cuda()) all.push_back(gpu.value());
    return all;
}

/// `part` is what the message must tell the user.
inline void expect_error(const Result<void>& result, ErrorCode code, std::string_view part) {
    ASSERT_FALSE(result) << "expected an error about " << part;
    EXPECT_EQ(result.error().code, code) << result.error().message;
    EXPECT_NE(result.error().message.find(part), std::string::npos) << result.error().message;
}
inline void expect_invalid(const Result<void>& result, std::string_view part) {
    expect_error(result, ErrorCode::invalid_argument, part);
}

template <class T>
T value_of(Result<T> result) {
    EXPECT_TRUE(result) << result.error().message;
    return std::move(result).value();
}

/// Numbers from 0 to `below` - 1, so that distances tie and single precision has no rounding before the root.
inline std::vector<float> whole_numbers(std::int64_t count, unsigned seed, unsigned below) {
    std::mt19937 random(seed);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = static_cast<float>(random() % below);
    return values;
}

inline void expect_ok(const Result<void>& result) { ASSERT_TRUE(result) << result.error().message; }

}  // namespace espalier
