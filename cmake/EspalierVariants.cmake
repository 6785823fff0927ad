# The registry of variants, generated from the files under variants/.
#
# A variant is a file variants/<family>/[gpu_only/|sm_90a/|x86/|aarch64/]<name>.{cpp,cu} that defines
# `Variant<Problem> <name>()` in namespace espalier::<family>; other places and endings are errors. From the
# file names come, per family and in the build tree, the enumeration VariantId and the table registry(); a
# file whose function is called otherwise fails at link. Nothing else lists variants. Those in x86/ and aarch64/ are compiled for
# processors of that name alone; elsewhere they keep their place in both, so that a committed selector
# means the same everywhere.

set(ESPALIER_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)

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

# espalier_families(<out>): the problems of kernels/problems/, sorted; the variants of each are a folder of variants/.
function(espalier_families out)
  file(GLOB families CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/kernels/problems
       ${PROJECT_SOURCE_DIR}/kernels/problems/*.hpp)
  list(TRANSFORM families REPLACE "\\.hpp$" "")
  list(SORT families)
  foreach(family ${families})  # as kernels/json/names.hpp takes it from a file of results
    if(NOT family MATCHES "^[a-z][a-z0-9_]*$" OR family STREQUAL "peers")
      message(FATAL_ERROR "kernels/problems/${family}.hpp: no family can be called so; name it [a-z][a-z0-9_]*, not peers")
    endif()
  endforeach()
  set(${out} ${families} PARENT_SCOPE)
endfunction()

# espalier_family_sources(<family> <out>): its variants' files relative to variants/<family>, by name.
function(espalier_family_sources family out)
  set(root ${PROJECT_SOURCE_DIR}/variants/${family})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${root} ${root}/*.cpp ${root}/*.cu)
  list(TRANSFORM files REPLACE "^(.*/)?([^/]+)$" "\\2|\\0")
  list(SORT files)
  list(TRANSFORM files REPLACE "^[^|]+\\|" "")
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# espalier_check_variants(): an error for every file and folder of variants/ that would be left out silently: what lies in
# no family's folder, in a folder of a family that says nothing, or has an ending that nobody looks for. Names both.
function(espalier_check_variants)
  espalier_families(families)
  string(REPLACE ";" ", " known "${families}")
  set(wrong "")
  set(names "")
  file(GLOB_RECURSE paths CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}
       ${PROJECT_SOURCE_DIR}/variants/*)
  foreach(path ${paths})
    get_filename_component(file ${path} NAME)
    string(REGEX MATCH "^variants/([^/]+)/(.*)$" inside ${path})
    set(family "${CMAKE_MATCH_1}")
    set(place "${CMAKE_MATCH_2}")
    get_filename_component(folder "${place}" DIRECTORY)
    string(TOLOWER "${file}" lower)
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${path})
      if(NOT inside AND NOT file IN_LIST families)
        string(APPEND wrong "  ${path}/: no family is called ${file}; kernels/problems/ has ${known}\n")
      endif()
    elseif(lower MATCHES "\\.(c|cc|cp|cxx|c[+][+]|cppm|ixx|h|hh|hxx|h[+][+]|inl|ipp|tpp|inc)$" OR
           (lower MATCHES "\\.(cpp|cu|hpp|cuh)$" AND NOT file MATCHES "\\.(cpp|cu|hpp|cuh)$"))
      string(APPEND wrong "  ${path}: variants end in .cpp or .cu, their headers in .hpp or .cuh\n")
    elseif(file MATCHES "\\.(cpp|cu)$")
      string(REGEX REPLACE "\\.(cpp|cu)$" "" name ${file})
      if(NOT inside)
        string(APPEND wrong "  ${path}: a variant lies in its family's folder, variants/<family>/${file}\n")
      elseif(NOT family IN_LIST families)
        # Its folder is in the list, too.
      elseif(NOT folder MATCHES "^(|gpu_only|sm_90a|x86|aarch64)$")
        string(APPEND wrong "  ${path}: variants lie in variants/${family}/ itself, or below it in gpu_only/, sm_90a/, "
               "x86/ or aarch64/\n")
      elseif(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
        string(APPEND wrong "  ${path}: its name, ${name}, is to be the name of a function\n")
      elseif("${family}/${name}" IN_LIST names)
        string(APPEND wrong "  ${path}: ${family} has another variant called ${name}\n")
      else()
        list(APPEND names ${family}/${name})
      endif()
    endif()
  endforeach()
  if(wrong)
    message(FATAL_ERROR "What lies under variants/ is registered by its place and name (CONTRIBUTING.md); move, rename "
            "or remove:\n${wrong}")
  endif()
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
  set(names)
  foreach(file ${files})
    set(path ${PROJECT_SOURCE_DIR}/variants/${family}/${file})
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

# espalier_shipped(<family> <out>): names of the variants that the library of this build links: those that
# the trees of the family rank and its baselines, CPU variants only without CUDA.
function(espalier_shipped family out)
  espalier_selector_files(selectors ${family} ${ESPALIER_SELECTORS_DIR} ${ESPALIER_LOCAL_SELECTORS_DIR})
  espalier_baselines(${family} names)
  foreach(selector ${selectors})
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${selector})
    file(STRINGS ${selector} lines REGEX "\"variant\"")
    string(REGEX MATCHALL "\"variant\": \"[A-Za-z0-9_]+" uses "${lines}")
    list(TRANSFORM uses REPLACE ".*\"" "")
    list(APPEND names ${uses})
  endforeach()
  list(REMOVE_DUPLICATES names)
  espalier_compiled_sources(${family} files)
  set(linked)
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    if(name IN_LIST names AND (ESPALIER_CUDA OR file MATCHES "\\.cpp$"))
      list(APPEND linked ${name})
    endif()
  endforeach()
  set(${out} ${linked} PARENT_SCOPE)
endfunction()

# espalier_write_registry(<family> <path> <with-source-ids> <names...>): the definition of registry() that
# links the variants named; the others keep their place in the order of VariantId, without their code.
function(espalier_write_registry family path with_source_ids)
  espalier_family_sources(${family} files)
  set(declarations "")
  set(entries "")
  set(include "")
  if(with_source_ids)
    set(include "\n#include \"registries/${family}/source_ids.hpp\"\n")
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
      file(STRINGS ${PROJECT_SOURCE_DIR}/variants/${family}/${file} role REGEX "Role::" LIMIT_COUNT 1)
      if(role MATCHES "(Role::[a-z]+)")
        set(variant "{.role = ${CMAKE_MATCH_1}}")
      endif()
    elseif(name IN_LIST ARGN)
      set(variant "${name}()")
      string(APPEND declarations "Variant<Problem> ${name}();\n")
    endif()
    set(source_id "{}")
    if(with_source_ids)
      set(source_id "source_id::${name}")
    endif()
    string(APPEND entries "        entry(\"${name}\", ${variant}, DeviceKind::${kind}, ${gpu_only}, ${min_sm}, "
           "\"variants/${family}/${file}\", ${source_id}, ${exact_sm}, \"${foreign}\"),\n")
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

std::span<const Registered<Problem>> registry() {
    static const std::array all{
${entries}    };
    return all;
}

}  // namespace espalier::${family}
")
endfunction()

# espalier_generate_registry(<family>): writes ids.hpp, registry.hpp and registry.cpp, hashes the sources at
# build time, and makes of them the library espalier_<family>_registry, which needs the code of every variant
# that this build compiles.
function(espalier_generate_registry family)
  espalier_family_sources(${family} files)
  set(enumerators "")
  set(names)
  set(paths)
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    string(APPEND enumerators "    ${name},\n")
    espalier_foreign(${file} foreign)
    if(NOT foreign)
      list(APPEND names ${name})
    endif()
    list(APPEND paths ${PROJECT_SOURCE_DIR}/variants/${family}/${file})
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
#include \"kernels/problems/${family}.hpp\"

namespace espalier::${family} {

/// Every variant of the family, in the order of VariantId. Which of them are linked is the program's choice:
/// the harness has all that are for its processor, the shipping library those that its selectors name.
std::span<const Registered<Problem>> registry();

}  // namespace espalier::${family}
")
  espalier_write_registry(${family} ${folder}/registry.cpp TRUE ${names})
  # Wherever below variants/ they lie: a record that names a source which was edited since would be a lie.
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/problems/*.hpp
       ${PROJECT_SOURCE_DIR}/variants/*.hpp ${PROJECT_SOURCE_DIR}/variants/*.cuh)
  add_custom_command(
    OUTPUT ${folder}/source_ids.hpp
    COMMAND ${CMAKE_COMMAND} "-DSOURCES=${paths}" -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${folder}/source_ids.hpp
            -DFAMILY=${family} -P ${PROJECT_SOURCE_DIR}/cmake/SourceIds.cmake
    DEPENDS ${paths} ${headers} ${PROJECT_SOURCE_DIR}/cmake/SourceIds.cmake
    COMMENT "Hashing the sources of ${family}"
    VERBATIM)
  add_library(espalier_${family}_registry STATIC ${folder}/registry.cpp ${folder}/source_ids.hpp)
  target_link_libraries(espalier_${family}_registry PRIVATE espalier_core)
endfunction()

# Variants of device/swizzled_products.hpp, which has instructions of compute capability 9.0 alone where it may.
set(ESPALIER_WARPGROUP_VARIANTS knn/screened_groups knn/screened_threshold)

# espalier_with_warpgroups(<target>): its machine code for 9.0 is for 9.0 alone; PTX and other code stay.
function(espalier_with_warpgroups target)
  set(architectures ${CMAKE_CUDA_ARCHITECTURES})
  list(TRANSFORM architectures REPLACE "^90-real$" "90a-real")
  set_property(TARGET ${target} PROPERTY CUDA_ARCHITECTURES ${architectures})
endfunction()

option(ESPALIER_CUDA_GROUPS "Compile CUDA variants in groups, to see that they compile: two thirds of a file's time are headers" OFF)

# espalier_group_cuda_variants(): the .cu files of all variants in as many object libraries as the largest family has:
# dealt out in turn, no two of a family, whose names would clash, come together. Those for one architecture stay alone.
function(espalier_group_cuda_variants)
  set(sources)
  set(variants)
  set(groups 1)
  espalier_families(families)
  foreach(family ${families})
    espalier_compiled_sources(${family} files)
    list(FILTER files INCLUDE REGEX "\\.cu$")
    list(FILTER files EXCLUDE REGEX "^sm_")
    list(LENGTH files count)
    if(count GREATER groups)
      set(groups ${count})
    endif()
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      if(NOT ${family}/${name} IN_LIST ESPALIER_WARPGROUP_VARIANTS)
        list(APPEND sources ${PROJECT_SOURCE_DIR}/variants/${family}/${file})
        list(APPEND variants espalier_${family}_${name})
      endif()
    endforeach()
  endforeach()
  set(ESPALIER_GROUPS ON)
  espalier_grouped(grouped cuda ${groups} ${sources})
  set(number 0)
  foreach(source ${grouped})
    set_source_files_properties(${source} PROPERTIES LANGUAGE CUDA)
    add_library(espalier_cuda_group_${number} OBJECT EXCLUDE_FROM_ALL ${source})
    target_link_libraries(espalier_cuda_group_${number} PRIVATE espalier_core OpenMP::OpenMP_CXX)
    target_include_directories(espalier_cuda_group_${number} PRIVATE ${PROJECT_SOURCE_DIR}/kernels/device/cuda)
    math(EXPR number "${number} + 1")
  endforeach()
  set(number 0)
  foreach(variant ${variants})
    set_property(GLOBAL PROPERTY ${variant}_objects espalier_cuda_group_${number})
    math(EXPR number "(${number} + 1) % ${groups}")
  endforeach()
endfunction()

# espalier_objects_of(<variant's target> <out>): the object files that a variant is in: its own, or those of its group.
function(espalier_objects_of target out)
  get_property(group GLOBAL PROPERTY ${target}_objects)
  if(group)
    set(target ${group})
  endif()
  set(${out} $<TARGET_OBJECTS:${target}> PARENT_SCOPE)
endfunction()

# espalier_variant_objects(<target-suffix> <twin>): one object library per variant, named
# espalier_<family>_<name><suffix>, its .cu files compiled against <twin>, a folder
# with device/kernel.hpp: kernels/device/cuda or harness/emulator.
function(espalier_variant_objects suffix twin)
  if(NOT TARGET espalier_variant_headers)
    espalier_headers(espalier_variant_headers OBJECTS
      "<algorithm>;<array>;<cmath>;<cstdint>;<cstring>;<functional>;<limits>;<map>;<memory>;<optional>;<span>;<string>;<string_view>;<utility>;<vector>"
      espalier_core OpenMP::OpenMP_CXX)
  endif()
  if(ESPALIER_CUDA_GROUPS AND twin STREQUAL kernels/device/cuda)
    espalier_group_cuda_variants()
  endif()
  espalier_families(families)
  foreach(family ${families})
    espalier_compiled_sources(${family} files)
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      set(target espalier_${family}_${name}${suffix})
      set(source ${PROJECT_SOURCE_DIR}/variants/${family}/${file})
      add_library(${target} OBJECT EXCLUDE_FROM_ALL ${source})
      target_link_libraries(${target} PRIVATE espalier_core OpenMP::OpenMP_CXX)
      if(file MATCHES "\\.cu$")
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/${twin})
        if(twin STREQUAL harness/emulator)
          # The language is a property of a file, not of a target, and the other twin may want CUDA:
          # compile a one-line wrapper instead.
          set(wrapper ${ESPALIER_GENERATED_DIR}/executor/${family}/${name}.cpp)
          write_if_changed(${wrapper} "#include \"variants/${family}/${file}\"\n")
          set_property(TARGET ${target} PROPERTY SOURCES ${wrapper})
          if(ESPALIER_RACES)
            espalier_watch_accesses(${target})
          else()
            espalier_precompiled(${target} espalier_variant_headers)
          endif()
          # "#pragma unroll" is nvcc's.
          target_compile_options(${target} PRIVATE -Wno-unknown-pragmas)
        elseif(file MATCHES "^sm_90a/")
          set_property(TARGET ${target} PROPERTY CUDA_ARCHITECTURES 90a-real)
        elseif(${family}/${name} IN_LIST ESPALIER_WARPGROUP_VARIANTS)
          espalier_with_warpgroups(${target})
        endif()
      else()
        espalier_precompiled(${target} espalier_variant_headers)
      endif()
    endforeach()
  endforeach()
endfunction()

# espalier_variants_of(<suffix> <out>): the object files of all variants plus the registries' sources.
function(espalier_variants_of suffix out)
  set(objects)
  espalier_families(families)
  foreach(family ${families})
    espalier_compiled_sources(${family} files)
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      espalier_objects_of(espalier_${family}_${name}${suffix} own)
      list(APPEND objects ${own})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES objects)
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
