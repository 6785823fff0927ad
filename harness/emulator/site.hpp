#pragma once

#include <source_location>

namespace espalier::device::host {

/// Where the source called an intrinsic: one type for all compilers, for a kernel may be compiled by another one.
class Site {
public:
    constexpr Site() = default;  ///< nowhere
#ifdef __cpp_lib_source_location
    static constexpr Site current(std::source_location at = std::source_location::current()) {
        return {at.file_name(), at.line(), at.column()};
    }
#else  // Clang before 16
    static constexpr Site current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE(),
                                  unsigned column = __builtin_COLUMN()) {
        return {file, line, column};
    }
#endif
    [[nodiscard]] constexpr const char* file_name() const { return file_; }
    [[nodiscard]] constexpr unsigned line() const { return line_; }
    [[nodiscard]] constexpr unsigned column() const { return column_; }

private:
    constexpr Site(const char* file, unsigned line, unsigned column) : file_(file), line_(line), column_(column) {}

    const char* file_ = "";
    unsigned line_ = 0, column_ = 0;
};

}  // namespace espalier::device::host
