#pragma once

#include <string>
#include <vector>

#include "harness/apps/tables/schema.hpp"

namespace espalier::bench::io {

/// What the options make of a column of a training table.
struct Role {
    enum class Kind { attribute, nominal, ignored, label } kind = Kind::attribute;
    bool amounts = false;  ///< its cells are amounts or dates to take as numbers

    bool operator==(const Role&) const = default;
};

/// One role per column. Throws BadFile for an option that names no column, or two options that contradict.
std::vector<Role> roles_of(const std::vector<std::string>& names, const TableOptions& options, const std::string& path);

/// Whether the first line must be a header, or seems to be one: the options say so, one of them names a column by
/// a cell of this line, or no cell of it is a number.
bool looks_like_header(const std::vector<std::string>& first, const TableOptions& options);

/// Whether an option names a column by a cell of this line, and not by a number that a column has.
bool is_named_by_option(const std::vector<std::string>& first, const TableOptions& options);

}  // namespace espalier::bench::io
