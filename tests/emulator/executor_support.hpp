#pragma once

// What the tests of the host executor share.

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/emulator/executor.hpp"
#include "tests/support/kernel_support.hpp"

namespace espalier::device {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif

/// Whether outputs depend on the order of the threads or on uninitialised memory, and how.
template <class T, class... Rest>
std::optional<std::string> nondeterminism_of(void (*kernel)(T*, Rest...), std::size_t count, dim3 grid, dim3 block,
                                             std::type_identity_t<Rest>... rest) {
    return host::find_nondeterminism([&] {
        const auto values = results_of<T, Rest...>(kernel, count, grid, block, rest...);
        const auto bytes = std::as_bytes(std::span(values));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    });
}

/// Expects `run` to throw a fault whose message has every one of `parts`.
inline void expect_fault(const std::function<void()>& run, const std::vector<std::string>& parts) {
    try {
        run();
        ADD_FAILURE() << "no fault was found in the order " << host::current_execution().order.text();
    } catch (const host::ExecutionFault& fault) {
        for (const std::string& part : parts)
            EXPECT_NE(std::string(fault.what()).find(part), std::string::npos)
                << "'" << part << "' is missing in: " << fault.what();
    }
}

/// Expects an access out of bounds to be found: at once by AddressSanitizer, else by a guard band.
inline void expect_out_of_bounds(const std::function<void()>& run, const std::string& where) {
    if constexpr (kAddressSanitizer)
        EXPECT_DEATH(run(), "use-after-poison");
    else
        expect_fault(run, {where});
}

}  // namespace espalier::device
