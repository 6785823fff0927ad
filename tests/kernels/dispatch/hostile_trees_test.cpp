// Whatever a tree's file says, a valid problem gets a variant that can run it.

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "kernels/dispatch/dispatch.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/loaded_trees.hpp"
#include "tests/each_family.hpp"
#include "tests/kernels/dispatch/loading_trees.hpp"
#include "tests/kernels/dispatch/tree_text.hpp"
#include "tests/support/invented_sweep.hpp"
#include "tests/support/trials.hpp"

namespace espalier {
namespace {

using namespace tree_text;

/// A device that a hostile tree may be asked for.
std::vector<DeviceInfo> devices() {
    std::vector<DeviceInfo> all = bench::invented_devices();
    all.push_back(DeviceInfo{.key = "cpu-test-4t"});
    return all;
}

/// What is decided by this tree alone can run, or nothing can.
template <class P>
void expect_total(const Tables<P>& all, const P& problem, const DeviceInfo& device) {
    const auto decision = decide(all, problem, device, nullptr);
    if (decision) {
        const Support support = supports(*decision.value().entry, problem, decision.value().configuration, device);
        ASSERT_TRUE(support) << decision.value().entry->variant.name << ": " << support.reason;
        return;
    }
    const auto alone = decide(Tables<P>{all.family, all.registry, {}}, problem, device, nullptr);
    ASSERT_FALSE(alone) << "the baseline runs it, but: " << decision.error().message;
}

/// A tree of the right form that nobody learned: any tests, any choices of the device's kind in any order.
template <class P>
ordered_json hostile_nodes(std::span<const Registered<P>> registry, DeviceKind kind, std::mt19937_64& random) {
    std::vector<const Registered<P>*> own;
    const Registered<P>* baseline = nullptr;
    for (const Registered<P>& entry : registry)
        if (entry.kind == kind && entry.linked()) {
            own.push_back(&entry);
            if (entry.variant.role == Role::baseline) baseline = &entry;
        }
    const auto any_leaf = [&](int id, int number) {
        ordered_json node = leaf(id, number, {});
        for (std::size_t i = random() % 4; i > 0; --i) {
            const Registered<P>& entry = *own[random() % own.size()];
            const auto configurations = entry.variant.space.enumerate();
            node["ranking"].push_back({{"variant", entry.variant.name},
                                       {"configuration", configurations[random() % configurations.size()].text()},
                                       {"slowdown", static_cast<double>(random() % 100)}});
        }
        node["ranking"].push_back({{"variant", baseline->variant.name},
                                   {"configuration", baseline->variant.space.enumerate().front().text()},
                                   {"slowdown", 1}});
        return node;
    };
    ordered_json nodes = ordered_json::array();
    int leaves = 0;
    const auto features = P::features();
    const auto grow = [&](const auto& self, int depth) -> void {
        const std::size_t id = nodes.size();
        const Feature<P>& feature = features[random() % features.size()];
        if (depth == 0 || !feature.known) return nodes.push_back(any_leaf(static_cast<int>(id), leaves++));
        ordered_json node{{"id", id}, {"feature", feature.name}};
        if (!feature.categories.empty())
            node["categories"] = {feature.categories[random() % feature.categories.size()]};
        else
            node["threshold"] = std::ldexp(static_cast<double>(random() % 1000) - 300, static_cast<int>(random() % 60));
        nodes.push_back(node);
        nodes[id]["left"] = nodes.size();
        self(self, depth - 1);
        nodes[id]["right"] = nodes.size();
        self(self, depth - 1);
    };
    grow(grow, static_cast<int>(random() % 5));
    return nodes;
}

TEST(HostileTrees, LeaveEveryProblemAVariantThatRunsIt) {
    std::mt19937_64 random(11);
    for_each_family([&]<class P>(const P*, const std::string& family) {
        SCOPED_TRACE(family);
        const Tables<P> known = tables<P>();
        for (int t = trials(100); t > 0 && !testing::Test::HasFatalFailure(); --t) {
            const auto all_devices = devices();
            const DeviceInfo& device = all_devices[random() % all_devices.size()];
            ordered_json text = tree(family, device.key, hostile_nodes<P>(known.registry, device.kind, random));
            if (device.kind == DeviceKind::cuda)
                text["device"] = {{"kind", "cuda"},        {"sm", 90},      {"sm_count", 1},
                                  {"shared_per_block", 1}, {"l2_bytes", 1}, {"bytes_per_second", 1}};
            const auto loaded = tree_of<P>(read_tree(sealed(text)), known.registry);
            const Tables<P> alone{family, known.registry, {&loaded->selector, 1}};
            for (int i = 0; i < 50 && !testing::Test::HasFatalFailure(); ++i)
                expect_total(alone, random_problem<P>(random), device);
        }
    });
}

/// One of many small damages.
std::string mutated(std::string text, std::mt19937_64& random) {
    static const std::vector<std::string> words{
        "0",   "-1",     "1e308", "18446744073709551616", "null", "[]", "{}", "\"\"", "\"cpu_scalar\"", "true", "99999",
        "0.5", "\"id\"", "NaN"};
    for (std::size_t changes = 1 + random() % 3; changes > 0 && !text.empty(); --changes) {
        const std::size_t at = random() % text.size();
        switch (random() % 6) {
            case 0: text[at] = static_cast<char>(random()); break;
            case 1: text.erase(at, 1 + random() % 40); break;
            case 2: text.insert(at, words[random() % words.size()]); break;
            case 3: text.insert(random() % text.size(), text.substr(at, random() % 200)); break;
            case 4: {  // another number or word in the place of one
                const std::size_t value = text.find(": ", at);
                if (value == std::string::npos) break;
                const std::size_t end = text.find_first_of(",\n", value);
                text.replace(value + 2, end - value - 2, words[random() % words.size()]);
                break;
            }
            default: {  // a digit by another: what keeps its form more often than not
                const std::size_t digit = text.find_first_of("0123456789", at);
                if (digit != std::string::npos) text[digit] = static_cast<char>('0' + random() % 10);
            }
        }
    }
    return text;
}

// Nine in ten get the checksum of what they have become, or none of them would be looked into.
TEST(HostileTrees, TenThousandMutantsAreRefusedOrTotal) {
    std::vector<std::string> seeds;
    for (const fs::path& file : committed_trees())
        if (fs::file_size(file) < 8000) seeds.push_back(read_bytes(file.string()));
    ASSERT_GT(seeds.size(), 10U);
    std::mt19937_64 random(17);
    const auto all_devices = devices();
    int accepted = 0, refused = 0;
    for (int i = 0; i < 10'000 && !testing::Test::HasFatalFailure(); ++i) {
        std::string text = mutated(seeds[random() % seeds.size()], random);
        if (const auto end = text.rfind(",\n \"crc32\""); random() % 10 != 0 && end != std::string::npos)
            text = seal_tree(text.substr(0, end) + "\n}\n");
        try {
            const TreeFile content = read_tree(text);
            for_each_family([&]<class P>(const P*, const std::string& family) {
                if (family != content.family) return;
                const Tables<P> known = tables<P>();
                const auto loaded = tree_of<P>(content, known.registry);
                const Tables<P> alone{family, known.registry, {&loaded->selector, 1}};
                for (const DeviceInfo& device : all_devices) expect_total(alone, random_problem<P>(random), device);
                ++accepted;
            });
        } catch (const BadData&) {
            ++refused;
        }
    }
    EXPECT_GT(accepted, 500);
    EXPECT_GT(refused, 5000);
}

}  // namespace
}  // namespace espalier
