#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "espalier/error.hpp"
#include "espalier/export.hpp"

namespace espalier::inline v1 {

/// The outcome of reading a file of wisdom.
struct LoadedWisdom {
    std::int64_t entries = 0;  ///< that are in use from now on

    /// Which of its lines are ignored, and why: a line each for what is damaged and for what is stale, with the first
    /// of them. Empty if all is well.
    std::string ignored;
};

/// Wisdom is what plans of Effort::measure and Effort::exhaustive learned: for one problem on one device the choice
/// that was the fastest there. It goes before the trees in whatever is decided afterwards, in calls, plans and
/// explanations. It holds for the device's key, its driver, the threads of a call on the CPU, this version of the
/// library and the source of the variant that won; what was measured with others is stale and ignored.
///
/// All functions may be called at any time from any thread. Wisdom stays in memory as long as the program
/// runs, some hundred bytes a problem; calls under way and plans keep what they were made by.
///
/// The environment variable ESPALIER_WISDOM names a file for a program as it is: it is read at the first decision, if
/// it is there, and what a plan learns is appended to it, a line at once, so that any number of threads and processes
/// may share it. Without that variable no file is written but by `save_wisdom`.
///
/// Reads the file at `path`. Of two entries for one problem the later counts; what was learned before is kept
/// otherwise. A line that is damaged or stale is ignored, and the result says why. Errors: bad_file for what cannot be
/// read or is larger than 64 MiB.
ESPALIER_API Result<LoadedWisdom> load_wisdom(std::string_view path);

/// Writes all that was learned or loaded to a file at `path`, which is replaced as a whole or, on an error, not at all.
/// Errors: bad_file for one that cannot be written.
ESPALIER_API Result<void> save_wisdom(std::string_view path);

/// Makes the library choose by its trees again, until something new is learned or loaded. Files stay as they are.
ESPALIER_API void forget_wisdom() noexcept;

}  // namespace espalier::inline v1
