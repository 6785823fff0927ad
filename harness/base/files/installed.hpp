#pragma once

#include <filesystem>
#include <string>

namespace espalier::bench {

/// The folder that the package which this program was made with is installed in, for a program of another project.
/// Empty for espalier's own, which lies in it.
void set_installed_prefix(std::string prefix);

/// The first of these that there is: `relative` to that folder, to the one above this program's own, or `sources`.
/// Empty if there is none.
std::filesystem::path find_installed(const std::filesystem::path& relative, const std::filesystem::path& sources);

}  // namespace espalier::bench
