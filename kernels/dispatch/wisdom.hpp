#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/wisdom.hpp"
#include "kernels/core/device_info.hpp"
#include "kernels/dispatch/wisdom_entry.hpp"

namespace espalier {

/// Why an entry is stale here, for a variant of such a kind and source; nothing if it is not.
std::optional<std::string> stale_wisdom(const WisdomEntry& entry, DeviceKind kind, std::string_view source_id);

/// Driver, library and source that an entry is measured with here, for a variant of such a kind and source.
void sign_wisdom(WisdomEntry& entry, DeviceKind kind, std::string_view source_id);

/// Reads the file that ESPALIER_WISDOM names, if it is there. Throws std::bad_alloc.
void read_wisdom_of_environment();

/// Takes a file in place of the one that ESPALIER_WISDOM names: forgets what there is, reads the file if it is there,
/// and appends to it what is learned. Throws BadData for one that cannot be read.
LoadedWisdom use_wisdom_file(const std::string& path);

/// The entry in use for what `like` is for: family, problem, device, threads, deterministic. Null if there is none; it
/// stays valid.
const WisdomEntry* find_wisdom(const WisdomEntry& like);

/// See espalier/wisdom.hpp. Throws BadData for a file that cannot be read, and std::bad_alloc.
LoadedWisdom load_wisdom_file(const std::string& path);

/// Keeps what was learned, and appends it to the file that ESPALIER_WISDOM names. Whatever is wrong with that file,
/// `ignored_wisdom` says.
void keep_wisdom(const WisdomEntry& entry);

/// The text of a file with all that was learned or loaded.
std::string wisdom_text();

void forget_all_wisdom() noexcept;

/// Says what is wrong with files of wisdom that were read so far.
std::vector<std::string> ignored_wisdom();

/// The same, and why an entry of this very problem is stale.
std::vector<std::string> ignored_wisdom(const std::string& family, const std::string& problem,
                                        const std::string& device);

}  // namespace espalier
