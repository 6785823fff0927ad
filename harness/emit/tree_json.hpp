#pragma once

#include <string>
#include <string_view>

#include "harness/emit/trained.hpp"

namespace espalier::bench::learn {

/// A trained tree for readers that do not read C++: results/<device-key>/<family>.tree.json, which the report
/// draws. Nodes in pre-order, the root first. An inner node asks `feature <= threshold`, or whether it is one of
/// `categories`, and continues at node `left` if so, else at `right`. Any other node is a leaf: what to run,
/// best first, with the evidence that the generated selector carries too. The library can load it in place of that one
/// (espalier/selectors.hpp).
std::string tree_json(const Trained& trained, const DeviceInfo& device);

/// The identity of what such a file decides: SHA-256 of its tests and of what its leaves rank, whatever the evidence.
/// Throws `BadData`.
std::string tree_sha256(std::string_view text);

}  // namespace espalier::bench::learn
