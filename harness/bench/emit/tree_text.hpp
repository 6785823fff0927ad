#pragma once

#include <string>
#include <string_view>

#include "harness/bench/emit/trained.hpp"

namespace espalier::bench::learn {

/// The file of a trained tree, kernels/selectors/<family>/<device-key>.tree, in JSON with a line per node: from what it
/// was learned, then its nodes in pre-order, the root first. An inner node asks `feature <= threshold`, or whether it
/// is one of `categories`, and continues at node `left` if so, else at `right`. Any other node is a leaf: what to run,
/// best first, with the evidence for it. The build makes tables of it, the library loads it (espalier/selectors.hpp),
/// and the report draws it. Names come from the registry; of text from outside, control characters are left out. The
/// same results give the same bytes. Throws `BadEvidence` for a device whose key is none.
std::string tree_text(const Trained& trained, const DeviceInfo& device);

/// The identity of what such a file decides: SHA-256 of its tests and of what its leaves rank, whatever the evidence.
/// Throws `BadData`.
std::string tree_sha256(std::string_view text);

/// The conditions on the way to a leaf, such as "values <= 1000000 and border == zero".
std::string path_to_leaf(const Family& family, const Tree& tree, std::size_t leaf);

}  // namespace espalier::bench::learn
