#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/error.hpp"
#include "espalier/export.hpp"

namespace espalier::inline v1 {

/// A selector that was read from a file at run time.
struct LoadedSelector {
    std::string family;  ///< "convolution_2d"
    std::string device;  ///< key of the device that it was trained on
    std::string file;    ///< where it was read from
};

/// The selectors that are loaded, and those that should have been.
struct LoadedSelectors {
    std::vector<LoadedSelector> selectors;  ///< in use, the last loaded first

    /// Which parts of ESPALIER_SELECTORS were not loaded, and why: a line each. Empty if it is not set or all is well.
    std::string ignored;
};

/// Makes the library choose by trees of `espalier train` that were not compiled into it. `path` is one of its files
/// `<device-key>.tree`, or a folder: every such file in it and in the folders in it, such as
/// `kernels/selectors/<family>` and `results/local/selectors`. A loaded tree goes before the compiled one of the same
/// family and device key, and replaces one that was loaded before; trees of other devices are ranked with the compiled
/// ones, by how alike the devices are. A tree may name variants that are not in this library: they are passed over, and
/// explanations say so.
///
/// May be called at any time from any thread. Dispatches under way and plans keep what they were made by; later ones
/// use the new trees. A tree stays in memory as long as the program runs; loading the same again takes no more.
///
/// Returns what was loaded. Errors, which load nothing of `path`: bad_file for a file that cannot be read, is damaged,
/// is no tree of this version, is larger or deeper than any tree, or names a family, feature, variant or configuration
/// that there is not; for two trees of one family and device; and for a folder without trees or with over 1024.
///
/// The environment variable ESPALIER_SELECTORS does the same for a program as it is: a path, or several with ':'
/// between them. It is read once, at the first decision or call of this function. What cannot be loaded is ignored
/// then, since no result depends on it: `loaded_selectors` and `Explanation::ignored` say so.
ESPALIER_API Result<std::vector<LoadedSelector>> load_selectors(std::string_view path);

/// The selectors in use that are not compiled in. Reads ESPALIER_SELECTORS if nothing did so far.
ESPALIER_API Result<LoadedSelectors> loaded_selectors();

}  // namespace espalier::inline v1
