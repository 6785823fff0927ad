#pragma once

// What tests of kernels share, whichever twin of the device headers they are built with.

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "device/kernel.hpp"

namespace espalier::device {

/// Skips the tests of a program where there is no device to run them on.
class NeedsDevice : public testing::Environment {
    void SetUp() override {
        if (count() == 0) GTEST_SKIP() << unavailable_reason();
    }
};

/// Device memory with the values of a vector.
template <class T>
Buffer upload(const std::vector<T>& values) {
    Buffer buffer(values.size() * sizeof(T));
    copy_to_device(buffer.data(), values.data(), buffer.size());
    return buffer;
}

template <class T>
std::vector<T> download(const Buffer& buffer) {
    std::vector<T> values(buffer.size() / sizeof(T));
    copy_to_host(values.data(), buffer.data(), buffer.size());
    synchronize();
    return values;
}

/// Runs a kernel over one output buffer of `count` zeros and returns what it wrote.
template <class T, class... Rest>
std::vector<T> results_of(void (*kernel)(T*, Rest...), std::size_t count, dim3 grid, dim3 block,
                          std::type_identity_t<Rest>... rest) {
    const Buffer out = upload(std::vector<T>(count));
    launch(kernel, grid, block, 0, nullptr, out.as<T>(), rest...);
    return download<T>(out);
}

/// Expects the driver's refusal with one of these error numbers and this name.
template <class Run>
void expect_refused(Run run, std::initializer_list<int> codes, const std::string& name) {
    try {
        run();
        ADD_FAILURE() << "accepted";
    } catch (const DeviceError& error) {
        EXPECT_TRUE(std::ranges::count(codes, error.code())) << error.what();
        EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << error.what();
    }
}

}  // namespace espalier::device
