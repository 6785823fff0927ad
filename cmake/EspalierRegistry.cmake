# The parts of a family that its files' names and places say, and the C++ that is generated of them. The project's own
# build and projects that bring their own kernels (EspalierOwn.cmake) use the same.

set(ESPALIER_CMAKE_DIR ${CMAKE_CURRENT_LIST_DIR})

# The processors that this build is for, by the name of their folder.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(ESPALIER_ARCHITECTURE x86)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(ESPALIER_ARCHITECTURE aarch64)
else()
  set(ESPALIER_ARCHITECTURE ${CMAKE_SYSTEM_PROCESSOR})
endif()

# write_if_changed(<path> <text>): leaves the file, and so what depends on it, alone when nothing changed.
function(write_if_changed path text)
  file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)
endfunction()

# espalier_family_place(<family> <root> <shown> <problem>): the folder of its variants, how records name that folder, and
# how sources include its problem. What lies in another project's folder is there as EspalierOwn.cmake found it.
function(espalier_family_place family root_out shown_out problem_out)
  get_property(place GLOBAL PROPERTY ESPALIER_PLACE_OF_${family})
  if(NOT place)
    set(place ${PROJECT_SOURCE_DIR}/variants/${family} variants/${family} kernels/problems/${family}.hpp)
  endif()
  list(POP_FRONT place root shown problem)
  set(${root_out} ${root} PARENT_SCOPE)
  set(${shown_out} ${shown} PARENT_SCOPE)
  set(${problem_out} ${problem} PARENT_SCOPE)
endfunction()

# espalier_family_sources(<family> <out>): its variants' files relative to their folder, by name.
function(espalier_family_sources family out)
  espalier_family_place(${family} root shown problem)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${root} ${root}/*.cpp ${root}/*.cu)
  list(TRANSFORM files REPLACE "^(.*/)?([^/]+)$" "\\2|\\0")
  list(SORT files)
  list(TRANSFORM files REPLACE "^[^|]+\\|" "")
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# espalier_foreign(<file> <out>): the processors that a variant's file is for where this build is for others, else
# empty. <file> is relative to its family's folder.
function(espalier_foreign file out)
  set(foreign "")
  if(file MATCHES "^(x86|aarch64)/" AND NOT CMAKE_MATCH_1 STREQUAL ESPALIER_ARCHITECTURE)
    set(foreign ${CMAKE_MATCH_1})
  endif()
  set(${out} "${foreign}" PARENT_SCOPE)
endfunction()

# espalier_compiled_sources(<family> <out>): those of its variants' files that this build compiles.
function(espalier_compiled_sources family out)
  espalier_family_sources(${family} files)
  set(compiled)
  foreach(file ${files})
    espalier_foreign(${file} foreign)
    if(NOT foreign)
      list(APPEND compiled ${file})
    endif()
  endforeach()
  set(${out} ${compiled} PARENT_SCOPE)
endfunction()

# espalier_baselines(<family> <out>): names of the variants whose source says Role::baseline.
function(espalier_baselines family out)
  espalier_family_sources(${family} files)
  espalier_family_place(${family} root shown problem)
  set(names)
  foreach(file ${files})
    set(path ${root}/${file})
    file(STRINGS ${path} lines REGEX "Role::baseline")
    if(lines)
      get_filename_component(name ${file} NAME_WE)
      list(APPEND names ${name})
      # Handing the role on takes it from here, so this file's change is what must be noticed.
      set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${path})
    endif()
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# espalier_write_registry(<family> <function> <path> <source-ids> <names...>): the definition of registry(), or of
# a function called otherwise, that links the variants named; the others keep their place in the order of VariantId,
# without their code. <source-ids> is the header that espalier_hash_sources() makes, or FALSE.
function(espalier_write_registry family function path source_ids)
  espalier_family_sources(${family} files)
  espalier_family_place(${family} root shown problem)
  set(declarations "")
  set(entries "")
  set(include "")
  if(source_ids)
    set(include "\n#include \"${source_ids}\"\n")
  endif()
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    set(kind cpu)
    if(file MATCHES "\\.cu$")
      set(kind cuda)
    endif()
    set(gpu_only false)
    set(min_sm 0)
    if(file MATCHES "^(gpu_only|sm_[0-9]+a?)/")
      set(gpu_only true)
    endif()
    if(file MATCHES "^sm_([0-9]+)a?/")
      set(min_sm ${CMAKE_MATCH_1})
    endif()
    set(exact_sm false)
    if(file MATCHES "^sm_[0-9]+a/")
      set(exact_sm true)
    endif()
    espalier_foreign(${file} foreign)
    set(variant "{}")
    if(foreign)
      # Its code cannot be asked: the role is read, for listings.
      file(STRINGS ${root}/${file} role REGEX "Role::" LIMIT_COUNT 1)
      if(role MATCHES "(Role::[a-z]+)")
        set(variant "{.role = ${CMAKE_MATCH_1}}")
      endif()
    elseif(name IN_LIST ARGN)
      set(variant "${name}()")
      string(APPEND declarations "Variant<Problem> ${name}();\n")
    endif()
    set(source_id "{}")
    if(source_ids)
      set(source_id "source_id::${name}")
    endif()
    string(APPEND entries "        entry(\"${name}\", ${variant}, DeviceKind::${kind}, ${gpu_only}, ${min_sm}, "
           "\"${shown}/${file}\", ${source_id}, ${exact_sm}, \"${foreign}\"),\n")
  endforeach()
  write_if_changed(${path} "#include \"registries/${family}/registry.hpp\"

#include <array>
${include}
namespace espalier::${family} {

${declarations}
namespace {

Registered<Problem> entry(std::string_view name, Variant<Problem> variant, DeviceKind kind, bool gpu_only, int min_sm,
                          std::string_view path, std::string_view source_id, bool exact_sm,
                          std::string_view foreign) {
    variant.name = name;
    return {std::move(variant), kind, gpu_only, min_sm, path, source_id, exact_sm, foreign};
}

}  // namespace

std::span<const Registered<Problem>> ${function}() {
    static const std::array all{
${entries}    };
    return all;
}

}  // namespace espalier::${family}
")
endfunction()

# espalier_write_registry_headers(<family> [enumerators]): ids.hpp and registry.hpp. Enumerators that are given come before
# those of the files.
function(espalier_write_registry_headers family)
  espalier_family_sources(${family} files)
  espalier_family_place(${family} root shown problem)
  set(enumerators "${ARGN}")
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    string(APPEND enumerators "    ${name},\n")
  endforeach()
  set(folder ${ESPALIER_GENERATED_DIR}/registries/${family})
  write_if_changed(${folder}/ids.hpp "#pragma once

#include <cstdint>

namespace espalier::${family} {

enum class VariantId : std::uint16_t {
${enumerators}};

}  // namespace espalier::${family}
")
  write_if_changed(${folder}/registry.hpp "#pragma once

#include <span>

#include \"kernels/core/registry.hpp\"
#include \"${problem}\"

namespace espalier::${family} {

/// Every variant of the family, in the order of VariantId. Which of them are linked is the program's choice:
/// the harness has all that are for its processor, the shipping library those that its selectors name.
std::span<const Registered<Problem>> registry();

/// Those of the project itself: all, unless another project adds its own.
std::span<const Registered<Problem>> built_in_registry();

}  // namespace espalier::${family}
")
endfunction()

# espalier_hash_sources(<family> <header> <roots> <inside> <headers...>): <header> below the generated folder, made at
# build time of the variants and of the headers that they include of folders that match <inside>, below one of <roots>.
function(espalier_hash_sources family header roots inside)
  espalier_compiled_paths(${family} all names)
  set(output ${ESPALIER_GENERATED_DIR}/${header})
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DSOURCES=${all}" "-DROOTS=${roots}" "-DINSIDE=${inside}" -DOUTPUT=${output}
            -DFAMILY=${family} -P ${ESPALIER_CMAKE_DIR}/SourceIds.cmake
    DEPENDS ${all} ${ARGN} ${ESPALIER_CMAKE_DIR}/SourceIds.cmake
    COMMENT "Hashing the sources of ${family}"
    VERBATIM)
endfunction()

# espalier_compiled_paths(<family> <all> <names>): the paths of its variants, and the names of those that this build
# compiles.
function(espalier_compiled_paths family all names)
  espalier_family_sources(${family} files)
  espalier_family_place(${family} root shown problem)
  set(paths)
  set(compiled)
  foreach(file ${files})
    list(APPEND paths ${root}/${file})
    espalier_foreign(${file} foreign)
    if(NOT foreign)
      get_filename_component(name ${file} NAME_WE)
      list(APPEND compiled ${name})
    endif()
  endforeach()
  set(${all} ${paths} PARENT_SCOPE)
  set(${names} ${compiled} PARENT_SCOPE)
endfunction()

# espalier_selector_files(<out> <family> <selectors-dirs...>): the trees of a family, in the order of their device
# keys. Of two of the same device the later folder's counts.
function(espalier_selector_files out family)
  set(keys)
  foreach(folder ${ARGN})
    file(GLOB files CONFIGURE_DEPENDS ${folder}/${family}/*.tree)
    foreach(file ${files})
      get_filename_component(key ${file} NAME)
      list(APPEND keys ${key})
      set(file_${key} ${file})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES keys)
  list(SORT keys)
  set(chosen)
  foreach(key ${keys})
    list(APPEND chosen ${file_${key}})
  endforeach()
  set(${out} ${chosen} PARENT_SCOPE)
endfunction()

# espalier_sources_to_link(<family> <out> <selectors-dir...>): files of the variants that a library links: those that the
# trees of the family rank, and its baselines; those for CPUs alone without CUDA.
function(espalier_sources_to_link family out)
  espalier_selector_files(trees ${family} ${ARGN})
  espalier_baselines(${family} names)
  foreach(tree ${trees})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tree})
    file(STRINGS ${tree} lines REGEX "\"variant\"")
    string(REGEX MATCHALL "\"variant\": \"[A-Za-z0-9_]+" uses "${lines}")
    list(TRANSFORM uses REPLACE ".*\"" "")
    list(APPEND names ${uses})
  endforeach()
  espalier_compiled_sources(${family} files)
  set(shipped)
  foreach(file ${files})
    get_filename_component(variant ${file} NAME_WE)
    if(variant IN_LIST names AND (ESPALIER_CUDA OR file MATCHES "[.]cpp$"))
      list(APPEND shipped ${file})
    endif()
  endforeach()
  set(${out} ${shipped} PARENT_SCOPE)
endfunction()
