// The problems that families are built for, and the ones that are drawn from them.

#include "harness/bench/families/domain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/bench/families/family.hpp"
#include "tests/support/invented_sweep.hpp"

namespace espalier::bench {
namespace {

constexpr std::size_t kCount = 120;

/// Calls `check` with every family that declares a domain, on both kinds of device.
template <class Check>
void for_each_domain(const Check& check) {
    std::size_t families_with_one = 0;
    for (const Family* family : families()) {
        families_with_one += !family->domain(DeviceKind::cpu).empty();
        for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::cuda}) {
            EXPECT_EQ(family->domain(kind).empty(), family->domain(DeviceKind::cpu).empty()) << family->name();
            if (family->domain(kind).empty()) continue;
            SCOPED_TRACE(std::string(family->name()) + " on " + std::string(to_string(kind)));
            check(*family, kind);
        }
    }
    EXPECT_EQ(families_with_one, 7U);
}

std::vector<std::string> unseen(const Family& family, DeviceKind kind, std::size_t count = kCount) {
    return draw_problems(family, kind, 2026, Stream::unseen, count);
}

double value_of(const Family& family, const std::string& key, std::string_view axis) {
    const auto values = family.feature_values(key);
    const auto at = std::ranges::find(family.features(), axis, &FeatureInfo::name);
    return values.at(static_cast<std::size_t>(at - family.features().begin()));
}

bool is_of_trace(const Domain& domain, const std::string& key) {
    const std::string text = ";" + key + ";";
    return std::ranges::any_of(domain.traces, [&](std::string_view trace) {
        while (!trace.empty()) {
            const auto item = trace.substr(0, trace.find(';'));
            if (text.find(";" + std::string(item) + ";") == std::string::npos) return false;
            trace.remove_prefix(std::min(trace.size(), item.size() + 1));
        }
        return true;
    });
}

TEST(Domain, DrawsTheSameProblemsAgainAndMoreAreFurtherOnes) {
    for_each_domain([](const Family& family, DeviceKind kind) {
        const auto keys = unseen(family, kind);
        EXPECT_EQ(keys.size(), kCount);
        EXPECT_EQ(unseen(family, kind), keys);
        const auto fewer = unseen(family, kind, 20);
        EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), keys.begin()));
        EXPECT_EQ(std::set(keys.begin(), keys.end()).size(), keys.size());
        EXPECT_NE(draw_problems(family, kind, 2027, Stream::unseen, kCount), keys);
        for (const std::string& key : keys) EXPECT_EQ(family.canonical(key), key);
    });
}

// The bits do not depend on the machine: these are the first ones wherever this runs.
TEST(Domain, DrawsTheSameEverywhere) {
    const std::vector<std::string> dots{"elements=82720", "elements=1871635", "elements=3648", "elements=307200",
                                        "elements=784"},
        sums{"receivers=970;samples=6080;sources=46;span=19;output=maximum;delays=cube",
             "receivers=4;samples=848;sources=620;span=92;output=maximum;delays=cube",
             "receivers=10;samples=116013;sources=2277;span=200;output=maximum;delays=cube",
             "receivers=24;samples=12000;sources=343;span=1500;output=sums"};
    EXPECT_EQ(unseen(*find_family("dot"), DeviceKind::cpu, 5), dots);
    EXPECT_EQ(unseen(*find_family("coherent_sum"), DeviceKind::cuda, 4), sums);
}

TEST(Domain, StreamsHaveNothingInCommonWhateverTheirSeeds) {
    for_each_domain([](const Family& family, DeviceKind kind) {
        const auto keys = unseen(family, kind);
        const std::set unseen_ones(keys.begin(), keys.end());
        for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2026}})
            for (const std::string& key : draw_problems(family, kind, seed, Stream::sweep, kCount)) {
                EXPECT_FALSE(unseen_ones.contains(key)) << key;
                EXPECT_EQ(stream_of(family.name(), key), Stream::sweep);
            }
        for (const std::string& key : keys) EXPECT_EQ(stream_of(family.name(), key), Stream::unseen);
    });
}

TEST(Domain, SkipsWhatDefaultSweepsHold) {
    for_each_domain([](const Family& family, DeviceKind kind) {
        const auto keys = unseen(family, kind);
        for (const Effort effort : {Effort::quick, Effort::standard, Effort::full})
            for (const std::string& key : family.default_problems(kind, effort))
                EXPECT_EQ(std::ranges::count(keys, key), 0) << key;
    });
}

TEST(Domain, DrawsWithinItsRangesAndLimits) {
    for_each_domain([](const Family& family, DeviceKind kind) {
        const Domain domain = family.domain(kind);
        std::size_t of_traces = 0;
        for (const std::string& key : unseen(family, kind)) {
            EXPECT_TRUE(within_limits(family, domain, key)) << key;
            const bool trace = is_of_trace(domain, key);
            of_traces += trace;
            if (trace) continue;
            for (const SizeRange& range : domain.sizes) {
                const double size = value_of(family, key, range.axis);
                EXPECT_GE(size, static_cast<double>(range.least)) << key;
                EXPECT_LE(size, static_cast<double>(range.most)) << key;
            }
        }
        EXPECT_GE(of_traces, 1U);
        EXPECT_LE(of_traces, kCount / 4 + 1);
    });
}

TEST(Domain, LimitsAreKept) {
    const Family& family = *find_family("smallest_k");
    const Domain domain = family.domain(DeviceKind::cpu);
    EXPECT_TRUE(within_limits(family, domain, "rows=100;columns=100;k=100"));
    EXPECT_FALSE(within_limits(family, domain, "rows=100;columns=100;k=101")) << "longer than a row";
    EXPECT_FALSE(within_limits(family, domain, "rows=10000;columns=100000;k=1")) << "too much work";
}

TEST(Domain, DrawsEveryAlternativeAndAlignment) {
    for_each_domain([](const Family& family, DeviceKind kind) {
        const Domain domain = family.domain(kind);
        const auto keys = unseen(family, kind);
        for (const Alternatives& axis : domain.alternatives)
            for (const auto& [text, weight] : axis.values) {
                const double value = value_of(family, std::string(axis.axis) + "=" + std::string(text), axis.axis);
                const auto drawn = std::ranges::count_if(
                    keys, [&](const std::string& key) { return value_of(family, key, axis.axis) == value; });
                EXPECT_EQ(drawn > 0, weight > 0) << axis.axis << "=" << text;
            }
        for (const SizeRange& range : domain.sizes)
            for (const auto& [multiple, weight] : range.alignments) {
                const auto is_such = [&, m = multiple](const std::string& key) {
                    const auto size = static_cast<std::int64_t>(value_of(family, key, range.axis));
                    return m == 1 ? size % 2 == 1 : size % m == 0;
                };
                EXPECT_GE(std::ranges::count_if(keys, is_such), static_cast<std::ptrdiff_t>(kCount / 8))
                    << range.axis << " " << multiple;
            }
    });
}

// A range is covered evenly on the scale of logarithms: no half of it has much more or less than half of the problems.
TEST(Domain, SizesAreSpreadByTheirLogarithms) {
    const Family& family = *find_family("dot");
    const Domain domain = family.domain(DeviceKind::cpu);
    std::size_t small = 0, drawn = 0;
    for (const std::string& key : draw_problems(family, DeviceKind::cpu, 3, Stream::unseen, 400))
        if (!is_of_trace(domain, key)) ++drawn, small += value_of(family, key, "elements") < (1 << 17);
    EXPECT_NEAR(static_cast<double>(small) / static_cast<double>(drawn), 0.5, 0.02);
}

TEST(Domain, BaselinesSupportWhatIsDrawn) {
    const auto devices = invented_devices();
    for_each_domain([&](const Family& family, DeviceKind kind) {
        const DeviceInfo& device = devices.at(kind == DeviceKind::cpu ? 1 : 2);
        for (const std::string& key : unseen(family, kind)) {
            const std::size_t baseline = family.baseline(kind);
            const Support support =
                family.supports(baseline, key, family.variants()[baseline].configurations.front(), device);
            EXPECT_TRUE(support) << key << ": " << support.reason;
        }
    });
}

}  // namespace
}  // namespace espalier::bench
