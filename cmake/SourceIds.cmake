# Writes SHA-256 identities of variant sources: results carry them, so that evidence for code that has changed since is
# known to be stale. What a variant includes of the folders INSIDE counts, of other families too, and so does what that
# includes. Comments, white space and includes do not: where a file lies says nothing of what it computes.

cmake_minimum_required(VERSION 3.25)

function(normalised path out)
  file(READ ${path} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" "" text "${text}")
  string(REGEX REPLACE "#include[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ \t\r\n]+" "" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# place_of(<header> <out>): where it lies below one of ROOTS; empty if it is generated, which lists variants and computes
# nothing.
function(place_of header out)
  set(${out} "" PARENT_SCOPE)
  foreach(root ${ROOTS})
    if(EXISTS ${root}/${header})
      set(${out} ${root}/${header} PARENT_SCOPE)
      break()
    endif()
  endforeach()
endfunction()

# included_by(<path> <list>): adds the headers of the folders INSIDE that a file includes, directly or not.
function(included_by path list)
  file(STRINGS ${path} lines REGEX "^#include \"(${INSIDE})/")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" header "${line}")
    place_of(${header} place)
    if(place AND NOT header IN_LIST ${list})
      list(APPEND ${list} ${header})
      included_by(${place} ${list})
    endif()
  endforeach()
  set(${list} ${${list}} PARENT_SCOPE)
endfunction()

set(lines "")
foreach(source ${SOURCES})
  get_filename_component(name ${source} NAME_WE)
  normalised(${source} all)
  set(headers "")
  included_by(${source} headers)
  list(SORT headers)
  foreach(header ${headers})
    place_of(${header} place)
    normalised(${place} text)
    string(APPEND all "${text}")
  endforeach()
  string(SHA256 id "${all}")
  string(APPEND lines "inline constexpr std::string_view ${name} = \"${id}\";\n")
endforeach()
file(WRITE ${OUTPUT} "#pragma once

#include <string_view>

namespace espalier::${FAMILY}::source_id {

${lines}
}  // namespace espalier::${FAMILY}::source_id
")
