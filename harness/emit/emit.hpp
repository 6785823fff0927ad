#pragma once

#include <string>
#include <string_view>

#include "harness/evidence/evidence.hpp"
#include "harness/families/family.hpp"
#include "harness/learn/tree.hpp"

namespace espalier::bench::learn {

/// Whether a device key may name a folder, a file and a function: lower-case letters, digits, '-' and '_'.
bool valid_device_key(std::string_view key);

/// The conditions on the way to a leaf, such as "values <= 1000000 and border == zero".
std::string path_to_leaf(const Family& family, const Tree& tree, std::size_t leaf);

/// The C++ source of a selector (see kernels/core/selector.hpp), formatted nearly as clang-format would. Every
/// name in its code comes from the registry; the results contribute numbers, hashes and, stripped to
/// harmless characters, three lines of comment.
std::string emit(const Family& family, const DeviceInfo& device, const Evidence& evidence, const Tree& tree);

}  // namespace espalier::bench::learn
