#include "harness/emulator/symbols.hpp"

#include <backtrace.h>  // GCC's own, which reads symbol tables and debug information
#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace espalier::device::host {
namespace {

void ignore(void*, const char*, int) {}

backtrace_state* program() {
    static backtrace_state* const state = backtrace_create_state(nullptr, 1, ignore, nullptr);
    return state;
}

std::string demangled(const char* symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(symbol, nullptr, nullptr, &status),
                                                           &std::free);
    return status == 0 ? text.get() : symbol;
}

/// The name alone: return type and parameters add nothing. Template arguments stay.
std::string without_signature(const std::string& function) {
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t i = 0; i < function.size(); ++i) {
        const char c = function[i];
        if (c == '<' || (c == '(' && function.compare(i, 11, "(anonymous ") == 0))
            ++depth;
        else if (c == '>' || (c == ')' && depth > 0))
            --depth;
        else if (depth == 0 && c == ' ')
            begin = i + 1;
        else if (depth == 0 && c == '(')
            return function.substr(begin, i - begin);
    }
    return function.substr(begin);
}

void take_symbol(void* name, std::uintptr_t, const char* symbol, std::uintptr_t, std::uintptr_t) {
    if (symbol != nullptr) *static_cast<std::string*>(name) = without_signature(demangled(symbol));
}

/// Inlined functions come innermost first; returning 1 ends the search.
int take_line(void* place, std::uintptr_t, const char* file, int line, const char*) {
    if (file == nullptr || std::string_view(file).find("harness/emulator/") != std::string_view::npos) return 0;
    *static_cast<std::string*>(place) = std::string(file) + ":" + std::to_string(line);
    return 1;
}

}  // namespace

std::string function_at(const void* address) {
    std::string name;
    if (program() != nullptr)
        backtrace_syminfo(program(), reinterpret_cast<std::uintptr_t>(address), take_symbol, ignore, &name);
    return name;
}

std::string line_at(std::uintptr_t instruction) {
    std::string place;
    if (program() != nullptr) backtrace_pcinfo(program(), instruction, take_line, ignore, &place);
    return place.empty() ? "an unknown place" : place;
}

}  // namespace espalier::device::host
