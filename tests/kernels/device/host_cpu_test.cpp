// What the CPU is taken for: microarchitectures, levels of instructions and their narrowing by ESPALIER_CPU_ISA.

#include "kernels/device/host_cpu.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>

#include "kernels/core/isa.hpp"
#include "kernels/device/microarchitecture.hpp"

namespace espalier::device {
namespace {

/// Sets ESPALIER_CPU_ISA and puts back what was there.
class CpuIsa {
public:
    explicit CpuIsa(const char* value) {
        if (const char* text = std::getenv(kCpuIsaVariable)) before_ = text;
        set(value);
    }
    ~CpuIsa() { set(before_ ? before_->c_str() : nullptr); }
    CpuIsa(const CpuIsa&) = delete;
    CpuIsa& operator=(const CpuIsa&) = delete;

private:
    static void set(const char* value) {
        if (value)
            setenv(kCpuIsaVariable, value, 1);
        else
            unsetenv(kCpuIsaVariable);
    }
    std::optional<std::string> before_;
};

DeviceInfo cpu_at(const char* isa) {
    const CpuIsa narrowed(isa);
    return describe_cpu();
}

struct Design {
    CpuIdentity cpu;
    const char* name;
};

void PrintTo(const Design& design, std::ostream* out) { *out << design.name; }

class Microarchitecture : public testing::TestWithParam<Design> {};

TEST_P(Microarchitecture, IsToldByItsNumbers) { EXPECT_EQ(microarchitecture(GetParam().cpu), GetParam().name); }

INSTANTIATE_TEST_SUITE_P(
    Designs, Microarchitecture,
    testing::Values(
        Design{{"GenuineIntel", 6, 0xA7, 1}, "rocketlake"}, Design{{"GenuineIntel", 6, 0xA7, 1, true}, "intel-6-167"},
        Design{{"GenuineIntel", 6, 0xCF, 2, true}, "emeraldrapids"},
        Design{{"GenuineIntel", 6, 0xCF, 2}, "emeraldrapids"}, Design{{"GenuineIntel", 6, 0x8F, 8}, "sapphirerapids"},
        Design{{"GenuineIntel", 6, 0x55, 4}, "skylakex"}, Design{{"GenuineIntel", 6, 0x55, 7}, "cascadelake"},
        Design{{"GenuineIntel", 6, 0x55, 11}, "cooperlake"}, Design{{"GenuineIntel", 6, 0x3C, 3}, "haswell"},
        Design{{"GenuineIntel", 6, 0xFA, 0}, "intel-6-250"}, Design{{"AuthenticAMD", 0x17, 0x31, 0}, "zen2"},
        Design{{"AuthenticAMD", 0x19, 0x01, 1}, "zen3"}, Design{{"AuthenticAMD", 0x19, 0x11, 1}, "zen4"},
        Design{{"AuthenticAMD", 0x19, 0xA0, 2}, "zen4"}, Design{{"AuthenticAMD", 0x1A, 0x02, 1}, "zen5"},
        Design{{"0x41", 0, 0xD4F, 0}, "neoversev2"}, Design{{"0x61", 0, 0x22, 0}, "other-34"}),
    [](const auto& tested) {
        std::string name = tested.param.name + std::to_string(tested.index);
        std::erase(name, '-');
        return name;
    });

TEST(Isa, HigherLevelsIncludeLowerOnes) {
    EXPECT_TRUE(includes(Isa::avx512vnni, Isa::avx2));
    EXPECT_TRUE(includes(Isa::neon, Isa::generic));
    EXPECT_FALSE(includes(Isa::avx2, Isa::avx512));
    EXPECT_FALSE(includes(Isa::neon, Isa::avx2));
    EXPECT_FALSE(includes(Isa::avx512, Isa::neon));
}

TEST(Isa, NamesRoundTrip) {
    for (const auto name : kIsaNames) EXPECT_EQ(to_string(parse_isa(name).value()), name);
    EXPECT_FALSE(parse_isa("sse4"));
    EXPECT_FALSE(parse_isa(""));
}

TEST(HostCpu, KeyNamesDesignInstructionsAndThreads) {
    const DeviceInfo cpu = describe_cpu();
    EXPECT_EQ(cpu.key, "cpu-" + cpu.microarchitecture + "-" + std::string(to_string(isa_of(cpu))) + "-" +
                           std::to_string(cpu.threads) + "t");
    EXPECT_FALSE(cpu.microarchitecture.empty());
}

TEST(HostCpu, MatrixRegistersGoWithTheHighestVectors) {
    EXPECT_TRUE(!cpu_at(nullptr).amx_bf16 || cpu_at(nullptr).avx512_vnni);
    EXPECT_EQ(cpu_at("avx512vnni").amx_bf16, cpu_at(nullptr).amx_bf16);
    EXPECT_FALSE(cpu_at("avx512").amx_bf16);
}

TEST(HostCpu, NarrowingTakesAwayAndSaysSo) {
    const DeviceInfo whole = cpu_at(nullptr), least = cpu_at("generic");
    EXPECT_EQ(isa_of(least), Isa::generic);
    EXPECT_FALSE(least.avx2 || least.fma || least.avx512 || least.avx512_vnni || least.amx_bf16 || least.neon);
    EXPECT_EQ(least.microarchitecture, whole.microarchitecture);
    if (isa_of(whole) != Isa::generic) {
        EXPECT_EQ(least.name, whole.name + ", narrowed to generic");
        EXPECT_NE(least.key, whole.key);
    }
}

TEST(HostCpu, NarrowingNeverAdds) {
    const Isa whole = isa_of(cpu_at(nullptr));
    for (const auto name : kIsaNames) {
        const std::string text(name);
        EXPECT_TRUE(includes(whole, isa_of(cpu_at(text.c_str())))) << name;
    }
}

TEST(HostCpu, UnknownInstructionSetIsNamedWithTheFix) {
    const CpuIsa wrong("avx1024");
    ASSERT_TRUE(wrong_cpu_isa());
    EXPECT_NE(wrong_cpu_isa()->find("'avx1024'; use one of generic, avx2"), std::string::npos) << *wrong_cpu_isa();
    EXPECT_EQ(isa_of(describe_cpu()), isa_of(cpu_at(nullptr)));
    const CpuIsa right("avx2");
    EXPECT_FALSE(wrong_cpu_isa());
}

}  // namespace
}  // namespace espalier::device
