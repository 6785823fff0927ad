#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/dispatch/choice_forest.hpp"

namespace espalier {

/// A forest as its file, <device-key>.forest, has it: of the right shape and within all limits, but its names not yet
/// looked up. It goes with the tree that was trained from the same data.
///
/// Little-endian: eight letters that name the format and its version, names and counts, the trees' nodes, of each leaf
/// what differs from the leaf before, and the CRC-64 of all before.
struct ForestFile {
    struct Choice {
        std::string variant;
        std::string configuration;  ///< "block=256;items=4", or "default"
    };

    static constexpr std::size_t kMostBytes = std::size_t{2} << 20;

    std::string family, device_key, data_sha256;
    std::vector<std::string> features;    ///< whose places the forest's inputs name
    std::vector<std::string> categories;  ///< of each input, empty for a number's; its place in `forest` is unknown
    std::vector<Choice> choices;
    ChoiceForest forest;
};

/// Reads the bytes of a forest's file, whoever wrote them. Throws BadData, which says what is wrong and names the fix,
/// but not the file.
ForestFile read_forest(std::string_view bytes);

/// The bytes of a file.
std::string forest_bytes(const ForestFile& file);

}  // namespace espalier
