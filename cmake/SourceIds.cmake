# Writes SHA-256 identities of variant sources: results carry them, so that evidence for code that has
# changed since is known to be stale. Comments and white space do not count; the family's own headers do.

function(normalised path out)
  file(READ ${path} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX REPLACE "[ \t\r\n]+" "" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

set(shared "")
foreach(header ${HEADERS})
  normalised(${header} text)
  string(APPEND shared "${text}")
endforeach()

set(lines "")
foreach(source ${SOURCES})
  get_filename_component(name ${source} NAME_WE)
  normalised(${source} text)
  string(SHA256 id "${text}${shared}")
  string(APPEND lines "inline constexpr std::string_view ${name} = \"${id}\";\n")
endforeach()
file(WRITE ${OUTPUT} "#pragma once

#include <string_view>

namespace espalier::${FAMILY}::source_id {

${lines}
}  // namespace espalier::${FAMILY}::source_id
")
