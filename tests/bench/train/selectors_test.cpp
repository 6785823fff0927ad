// The committed trees rest on evidence of today's sources. That they are what the results give, check_selectors.sh
// holds byte by byte; that the compiled tables decide as the files do, loaded_trees_test.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "harness/bench/records/stale.hpp"
#include "kernels/dispatch/tree_file.hpp"
#include "tests/bench/train/committed_results.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::learn {
namespace {

namespace fs = std::filesystem;

bool ranked_by_the_tree(const std::string& key, const StaleVariant& stale) {
    const fs::path file = fs::path(ESPALIER_COMMITTED_SELECTORS) / stale.family / (key + ".tree");
    const TreeFile tree = read_tree(read_bytes(file.string()));
    return std::ranges::any_of(tree.nodes, [&](const TreeFile::Node& node) {
        return std::ranges::count(node.ranking, stale.variant, &TreeFile::Choice::variant) > 0;
    });
}

// A tree that ranks a variant by times of other source than today's may be wrong: it is swept again, or somebody has
// said in results/<device-key>/known_stale.json why the times hold for this very source.
TEST(CommittedSelectors, RestOnEvidenceOfTodaysSources) {
    for (const std::string& key : evidence_devices()) {
        const fs::path folder = fs::path(ESPALIER_RESULTS) / key;
        const KnownStaleList known = load_known_stale(folder);
        const std::vector<StaleVariant> all = find_stale(committed_results(key).cases);
        for (const StaleVariant& stale : all)
            EXPECT_TRUE(is_known(known, stale) || !ranked_by_the_tree(key, stale))
                << key << ": " << describe(stale) << "\nor enter \"" << stale.name() << "\": {\"source_id\": \""
                << stale.source_id << "\", \"reason\": ...}";
        for (const auto& [name, unused] : known)
            EXPECT_TRUE(std::ranges::any_of(all, [&name = name](const StaleVariant& s) { return s.name() == name; }))
                << key << ": " << name << " is not stale: remove it from known_stale.json";
    }
}

}  // namespace
}  // namespace espalier::bench::learn
