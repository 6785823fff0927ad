# Writes how many bytes the object file of each variant takes in a program: code and data as `size` counts them, the
# GPU code that nvcc embeds included. OBJECTS is a file of lines "<family>/<variant>|<object file>".

file(STRINGS ${OBJECTS} lines)
set(names)
set(paths)
foreach(line ${lines})
  string(REGEX MATCH "^([^|]+)\\|(.+)$" line "${line}")
  list(APPEND names ${CMAKE_MATCH_1})
  list(APPEND paths ${CMAKE_MATCH_2})
endforeach()

execute_process(COMMAND ${SIZE} ${paths} OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" rows "${table}")
list(POP_FRONT rows)  # the heading: text, data, bss, ...

set(entries "")
foreach(name row IN ZIP_LISTS names rows)
  string(REGEX MATCH "^ *([0-9]+)[ \t]+([0-9]+)[ \t]" row "${row}")
  math(EXPR bytes "${CMAKE_MATCH_1} + ${CMAKE_MATCH_2}")
  string(APPEND entries "    {\"${name}\", ${bytes}},\n")
endforeach()
list(LENGTH names count)
file(WRITE ${OUTPUT} "#include \"harness/cli/variant_sizes.hpp\"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace espalier::bench::cli {
namespace {

constexpr std::array<std::pair<std::string_view, std::size_t>, ${count}> kSizes{{
${entries}}};

}  // namespace

std::optional<std::size_t> object_bytes(const std::string& variant) {
    const auto at = std::ranges::find(kSizes, variant, &std::pair<std::string_view, std::size_t>::first);
    return at == kSizes.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace espalier::bench::cli
")
