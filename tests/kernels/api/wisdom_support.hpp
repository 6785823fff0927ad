// What tests of wisdom share: entries of inner products on this CPU.

#pragma once

#include <string>

#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/wisdom.hpp"
#include "kernels/problems/dot.hpp"
#include "tests/kernels/api/api_helpers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier {

inline const Registered<dot::Problem>& dot_variant(std::string_view name) {
    for (const auto& entry : tables<dot::Problem>().registry)
        if (entry.variant.name == name) return entry;
    throw std::runtime_error("no variant of that name");
}

inline Explanation dot_here(std::int64_t elements) { return value_of(explain_dot_product(Device::cpu(), elements)); }

/// That `variant` won for so many elements on this CPU.
inline WisdomEntry dot_entry(std::int64_t elements, std::string_view variant = "cpu_scalar") {
    WisdomEntry entry;
    entry.family = "dot";
    entry.problem = "elements=" + std::to_string(elements);
    entry.device = Device::cpu().key();
    entry.threads = dot_here(elements).threads;
    entry.variant = variant;
    entry.configuration = "default";
    entry.date = "2026-11-26T17:00:00Z";
    entry.speedup = 1.31;
    entry.nanoseconds = 1234;
    entry.choices = 3;
    sign_wisdom(entry, DeviceKind::cpu, dot_variant(variant).source_id);
    return entry;
}

/// Each test begins and ends without wisdom.
class Wisdom : public testing::Test {
protected:
    Wisdom() { forget_wisdom(); }
    ~Wisdom() override { forget_wisdom(); }

    [[nodiscard]] std::string file(const std::string& content) const { return folder_.file("w.txt", content); }
    void use(const std::string& content) const { EXPECT_EQ(load(content).ignored, ""); }
    [[nodiscard]] LoadedWisdom load(const std::string& content) const { return value_of(load_wisdom(file(content))); }

    TemporaryFolder folder_;
};

}  // namespace espalier
