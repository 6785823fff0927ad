#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/io/number.hpp"
#include "harness/base/text/printable.hpp"

namespace espalier::bench::io {

/// How tables write that a value is not known. An empty cell always says so.
class MissingWords {
public:
    /// The usual spellings: ?, -, NA, N/A, #N/A, <NA>, null, None, nan and -nan, in any case.
    MissingWords() = default;
    /// These instead, as they are written; none: the usual ones.
    explicit MissingWords(std::vector<std::string> words) : words_(std::move(words)) {}

    [[nodiscard]] bool hold(std::string_view cell) const {
        // Most cells are numbers, and no usual word ends in a digit.
        const bool is_number = words_.empty() && !cell.empty() && cell.back() >= '0' && cell.back() <= '9';
        return !is_number && is_one(cell);
    }

    /// Whether a cell holds a class: unless they were asked for, "-" and "None" are names of classes like any other.
    [[nodiscard]] bool hold_class(std::string_view cell) const;

private:
    [[nodiscard]] bool is_one(std::string_view cell) const;

    std::vector<std::string> words_;
};

/// A cell or a name as a message may show it: short and printable.
inline std::string printable(std::string_view text) { return bench::printable(text, 43); }

}  // namespace espalier::bench::io
