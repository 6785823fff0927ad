# Makes a build from nothing fast: compiles sources in groups, and headers once.

option(ESPALIER_GROUPS "Compile sources of the harness and the library in groups; OFF suits clang-tidy and small edits" ON)
option(ESPALIER_PRECOMPILED "Compile the headers that most tests include once" ON)
# ccache needs the first option of GCC to know what it has compiled. Headers that do not fit, as GCC 13 says of another
# -O, are compiled anew: that takes longer and is no error.
set(ESPALIER_PRECOMPILED_OPTIONS
    "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess;-Wno-error=invalid-pch>")

# espalier_grouped(<out> <name> <count> <sources...>): <count> sources that include the given ones, which lie below the
# project's or the generated folder. They include by the path in the project, so that the compiler cache knows them in
# another clone (CMake's own unity builds name absolute paths). Names in anonymous namespaces must differ in a group.
function(espalier_grouped out name count)
  if(NOT ESPALIER_GROUPS)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  math(EXPR last "${count} - 1")
  foreach(group RANGE ${last})
    set(text_${group} "")
  endforeach()
  set(group 0)
  foreach(source ${ARGN})  # dealt out like cards: neighbours by name are often alike in size
    cmake_path(ABSOLUTE_PATH source NORMALIZE)
    set(include ${source})
    cmake_path(IS_PREFIX ESPALIER_GENERATED_DIR ${source} generated)
    if(generated)
      cmake_path(RELATIVE_PATH include BASE_DIRECTORY ${ESPALIER_GENERATED_DIR})
    else()
      cmake_path(RELATIVE_PATH include BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    endif()
    string(APPEND text_${group} "#include \"${include}\"\n")
    math(EXPR group "(${group} + 1) % ${count}")
  endforeach()
  set(grouped)
  foreach(group RANGE ${last})
    if(NOT text_${group} STREQUAL "")
      set(path ${ESPALIER_GENERATED_DIR}/groups/${name}_${group}.cpp)
      write_if_changed(${path} "${text_${group}}")
      list(APPEND grouped ${path})
    endif()
  endforeach()
  set(${out} ${grouped} PARENT_SCOPE)
endfunction()

# espalier_headers(<target> PROGRAMS|OBJECTS <headers> <libraries...>): headers compiled once, for such targets compiled
# as one that links the libraries; espalier_precompiled(<target> <headers target>) uses them. Sources still include what
# they need.
function(espalier_headers target kind headers)
  set(source ${ESPALIER_GENERATED_DIR}/headers/${target}.cpp)
  if(kind STREQUAL "PROGRAMS")  # compiled with -fPIE, libraries with -fPIC, and that must agree
    write_if_changed(${source} "// Holds precompiled headers.\nint main() {}\n")
    add_executable(${target} EXCLUDE_FROM_ALL ${source})
  else()
    write_if_changed(${source} "// Holds precompiled headers.\n")
    add_library(${target} OBJECT EXCLUDE_FROM_ALL ${source})
  endif()
  target_link_libraries(${target} PRIVATE ${ARGN})
  if(ESPALIER_PRECOMPILED)
    target_precompile_headers(${target} PRIVATE ${headers})
    target_compile_options(${target} PRIVATE ${ESPALIER_PRECOMPILED_OPTIONS})
  endif()
endfunction()
function(espalier_precompiled target headers)
  if(ESPALIER_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${headers})
    target_compile_options(${target} PRIVATE ${ESPALIER_PRECOMPILED_OPTIONS})
  endif()
endfunction()
