#pragma once

#include <string>
#include <string_view>

namespace espalier {

/// The choice that a plan learned for one problem on one device: a line of a file of wisdom.
struct WisdomEntry {
    std::string family;
    std::string problem;         ///< its key, without what a caller does not know
    std::string device;          ///< its key
    int threads = 0;             ///< of the host, where that is the device; else 0
    bool deterministic = false;  ///< whether the choice is among variants of equal bits alone

    std::string driver;   ///< of the GPU, or "-"
    std::string library;  ///< its version
    std::string source;   ///< SHA-256 of the variant's source, or "-"

    std::string variant, configuration;  ///< what won
    bool exhaustive = false;             ///< of Effort::exhaustive, not of Effort::measure
    std::string date;                    ///< "2026-11-26T17:00:00Z"
    double speedup = 1;                  ///< how many times as fast as the tree's choice
    double nanoseconds = 0;              ///< of a run
    int choices = 0;                     ///< that were timed

    friend bool operator==(const WisdomEntry&, const WisdomEntry&) = default;
};

/// The longest line of a file of wisdom in bytes: a longer one is damaged.
inline constexpr std::size_t kLongestWisdomLine = 4096;

/// "schema=1 family=dot problem=elements=1000 ... crc32=1f3a9c02", without a line's end. Characters of values that a
/// line cannot have, blanks first of all, become '_'.
std::string wisdom_line(const WisdomEntry& entry);

/// The inverse, for a line that anybody may have written. Throws BadData, which says what is wrong with it; the names
/// in the entry are not looked up.
WisdomEntry read_wisdom_line(std::string_view line);

}  // namespace espalier
