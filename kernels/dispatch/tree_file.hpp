#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/configuration.hpp"
#include "kernels/core/device_traits.hpp"
#include "kernels/core/selector.hpp"

namespace espalier {

/// A tree as its file, <device-key>.tree, spells it: of the right shape and within all limits, but its names not yet
/// looked up.
struct TreeFile {
    struct Choice {
        std::string variant;
        std::string configuration;  ///< "block=256;items=4", or "default"
        float slowdown;
    };
    struct Node {
        // An inner node asks for a threshold of a feature, "rows", or of two, "rows / k" and "rows * k"; or for
        // categories of one.
        std::string feature{};  ///< empty for a leaf
        double threshold = 0;
        std::vector<std::string> categories{};  ///< empty for a threshold
        std::size_t left = 0, right = 0;        ///< later nodes; a test that holds leads to the left

        int problems = 0;
        float margin = 0, regret = 0, regret_lo = 0, regret_hi = 0;
        std::vector<Choice> ranking{};  ///< never empty in a leaf
    };

    std::string family;
    std::string device_key;
    DeviceTraits device;  ///< but for its microarchitecture
    std::string microarchitecture;
    std::string data_sha256;
    double pruning = 1;            ///< for training alone: how much its size was pruned back
    bool part_relaxed = true;      ///< for training alone: whether it asks for relaxing categories first
    bool from_alike = true;        ///< for training alone: whether it is learned from devices that are alike, too
    std::string weights_sha256{};  ///< for training alone: of the file that weighed its problems; empty for none
    std::vector<Node> nodes;       ///< in pre-order, the root first
};

/// Limits that no trained tree comes near; a file beyond them is refused before memory is taken for it.
struct TreeLimits {
    static constexpr std::size_t kBytes = std::size_t{4} << 20;
    static constexpr std::size_t kNodes = 4096;
    static constexpr std::size_t kDepth = 64;  ///< tests on the way to a leaf
    static constexpr std::size_t kChoices = 16;
};

/// Reads the text of a tree's file, whoever wrote it: the checksum, then every member. Throws BadData, which says what
/// is wrong and names the fix, but not the file.
TreeFile read_tree(std::string_view text);

/// The feature that a test asks about, "rows", or the two, "rows / k" and "rows * k".
struct AskedFeatures {
    std::string first, second;  ///< the latter is empty for one alone
    Column::Kind kind = Column::Kind::feature;
};
AskedFeatures asked_features(const std::string& feature);

/// The categories that a node asks for, each as the bit of its place among those of the feature. Throws BadData for one
/// that the feature has not, and for one that is named twice.
std::uint64_t category_bits(const TreeFile::Node& node, std::span<const std::string_view> categories);

/// The settings of a configuration, "block=256;items=4", none of "default"; their names point into the text. Nothing if
/// it spells none.
std::optional<Configuration> spelled_configuration(std::string_view text);

/// `text`, an object in JSON whose brace closes on a line of its own, with the checksum as its last member.
std::string seal_tree(std::string text);

}  // namespace espalier
