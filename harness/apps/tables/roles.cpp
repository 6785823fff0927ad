#include "harness/apps/tables/roles.hpp"

#include <algorithm>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/message.hpp"
#include "harness/apps/tables/header.hpp"

namespace espalier::bench::io {
namespace {

constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

std::size_t position_of(const std::vector<std::string>& names, const std::string& name) {
    const auto found = std::find(names.begin(), names.end(), name);
    return found == names.end() ? kNowhere : static_cast<std::size_t>(found - names.begin());
}

/// "3" is the third of `count` columns.
std::size_t column_number(const std::string& text, std::size_t count) {
    if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) return kNowhere;
    const std::size_t number = std::stoul(text);
    return number >= 1 && number <= count ? number - 1 : kNowhere;
}

/// kNowhere if there is no such column.
std::size_t find_column(const std::vector<std::string>& names, const std::string& column) {
    const auto by_name = position_of(names, column);
    return by_name != kNowhere ? by_name : column_number(column, names.size());
}

std::size_t column_or_fail(const std::vector<std::string>& names, const std::string& column, const char* option,
                           const std::string& path) {
    if (const auto position = find_column(names, column); position != kNowhere) return position;
    throw BadFile(path, "has no column '" + printable(column) + "' for " + option + "; its columns are " +
                            name_list(names) + " (or use a number from 1 to " + std::to_string(names.size()) + ")");
}

std::size_t label_of(const std::vector<std::string>& names, const TableOptions& options, const std::vector<Role>& roles,
                     const std::string& path) {
    if (options.label == "none") return kNowhere;
    if (options.label != "last" || position_of(names, "last") != kNowhere) {
        const std::size_t label = column_or_fail(names, options.label, "--label", path);
        if (roles[label].kind == Role::Kind::ignored)
            throw BadFile(path, "column '" + printable(options.label) + "' is both label and ignored; choose");
        return label;
    }
    const auto last =
        std::find_if(roles.rbegin(), roles.rend(), [](Role role) { return role.kind != Role::Kind::ignored; });
    return last == roles.rend() ? kNowhere : static_cast<std::size_t>(roles.rend() - last) - 1;
}

}  // namespace

std::vector<Role> roles_of(const std::vector<std::string>& names, const TableOptions& options,
                           const std::string& path) {
    std::vector<Role> roles(names.size());
    for (const auto& column : options.nominal)
        roles[column_or_fail(names, column, "--nominal", path)].kind = Role::Kind::nominal;
    for (const auto& column : options.numeric) {
        Role& role = roles[column_or_fail(names, column, "--numeric", path)];
        if (role.kind == Role::Kind::nominal)
            throw BadFile(path, "column '" + printable(column) + "' is both --nominal and --numeric; choose");
        role.amounts = true;
    }
    for (const auto& column : options.ignored) {
        const std::size_t position = find_column(names, column);
        if (position != kNowhere)
            roles[position] = {Role::Kind::ignored};
        else if (!options.ignored_elsewhere)
            static_cast<void>(column_or_fail(names, column, "--ignore", path));
    }
    const std::size_t label = label_of(names, options, roles, path);
    if (label == kNowhere) return roles;
    roles[label].kind = Role::Kind::label;
    if (roles[label].amounts && !options.numeric_label)
        throw BadFile(path, "column '" + printable(names[label]) +
                                "' is the label, whose classes are names; predict numbers with --regression, or leave "
                                "it out of --numeric");
    return roles;
}

bool is_named_by_option(const std::vector<std::string>& first, const TableOptions& options) {
    const auto names = [&](const std::string& column) {
        return position_of(first, column) != kNowhere && column_number(column, first.size()) == kNowhere;
    };
    const auto any = [&](const std::vector<std::string>& columns) {
        return std::any_of(columns.begin(), columns.end(), names);
    };
    return names(options.label) || any(options.nominal) || any(options.numeric) || any(options.ignored);
}

bool looks_like_header(const std::vector<std::string>& first, const TableOptions& options) {
    if (options.header != TableOptions::Header::detect) return options.header == TableOptions::Header::present;
    return is_named_by_option(first, options) || !has_number(first, options.format());
}

}  // namespace espalier::bench::io
