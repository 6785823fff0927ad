# The registry of variants, generated from the files under variants/.
#
# A variant is a file variants/<family>/[gpu_only/|sm_90a/]<name>.{cpp,cu} that defines
# `Variant<Problem> <name>()` in namespace espalier::<family>. From the file names come, per family and
# in the build tree, the enumeration VariantId and the table registry(); a file whose function is
# called otherwise fails at link. Nothing else lists variants.

set(ESPALIER_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)

# write_if_changed(<path> <text>): leaves the file, and so what depends on it, alone when nothing changed.
function(write_if_changed path text)
  file(CONFIGURE OUTPUT ${path} CONTENT "${text}" @ONLY)
endfunction()

# espalier_families(<out>): the folders of variants/, sorted.
function(espalier_families out)
  file(GLOB folders CONFIGURE_DEPENDS LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}/variants
       ${PROJECT_SOURCE_DIR}/variants/*)
  set(families)
  foreach(folder ${folders})
    if(EXISTS ${PROJECT_SOURCE_DIR}/variants/${folder}/problem.hpp)
      list(APPEND families ${folder})
    endif()
  endforeach()
  list(SORT families)
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

# espalier_shipped(<family> <out>): names of the variants that the committed selectors of a family use.
# The emitter writes every choice as `VariantId::<name>`.
function(espalier_shipped family out)
  file(GLOB selectors CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/selectors/${family}/*.gen.cpp)
  set(names)
  foreach(selector ${selectors})
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${selector})
    file(STRINGS ${selector} lines REGEX "VariantId::")
    string(REGEX MATCHALL "VariantId::[A-Za-z0-9_]+" uses "${lines}")
    list(TRANSFORM uses REPLACE "VariantId::" "")
    list(APPEND names ${uses})
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(SORT names)
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# espalier_generate_registry(<family>): writes ids.hpp, registry.hpp and registry.cpp, hashes the sources at
# build time, and makes of them the library espalier_<family>_registry.
function(espalier_generate_registry family)
  espalier_family_sources(${family} files)
  set(enumerators "")
  set(declarations "")
  set(entries "")
  set(paths)
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
    list(APPEND paths ${PROJECT_SOURCE_DIR}/variants/${family}/${file})
    string(APPEND enumerators "    ${name},\n")
    string(APPEND declarations "Variant<Problem> ${name}();\n")
    string(APPEND entries "        entry(\"${name}\", ${name}(), DeviceKind::${kind}, ${gpu_only}, ${min_sm}, "
           "\"variants/${family}/${file}\", source_id::${name}),\n")
  endforeach()

  set(folder ${ESPALIER_GENERATED_DIR}/variants/${family})
  write_if_changed(${folder}/ids.hpp "#pragma once

#include <cstdint>

namespace espalier::${family} {

enum class VariantId : std::uint16_t {
${enumerators}};

}  // namespace espalier::${family}
")
  write_if_changed(${folder}/registry.hpp "#pragma once

#include <span>

#include \"harness/core/registry.hpp\"
#include \"variants/${family}/problem.hpp\"

namespace espalier::${family} {

/// Every variant of the family, in the order of VariantId.
std::span<const Registered<Problem>> registry();

}  // namespace espalier::${family}
")
  write_if_changed(${folder}/registry.cpp "#include \"variants/${family}/registry.hpp\"

#include \"variants/${family}/source_ids.hpp\"

namespace espalier::${family} {

${declarations}
namespace {

Registered<Problem> entry(std::string_view name, Variant<Problem> variant, DeviceKind kind, bool gpu_only, int min_sm,
                          std::string_view path, std::string_view source_id) {
    variant.name = name;
    return {std::move(variant), kind, gpu_only, min_sm, path, source_id};
}

}  // namespace

std::span<const Registered<Problem>> registry() {
    static const std::array all{
${entries}    };
    return all;
}

}  // namespace espalier::${family}
")
  file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/variants/${family}/*.hpp
       ${PROJECT_SOURCE_DIR}/variants/${family}/*.cuh)
  add_custom_command(
    OUTPUT ${folder}/source_ids.hpp
    COMMAND ${CMAKE_COMMAND} "-DSOURCES=${paths}" "-DHEADERS=${headers}" -DOUTPUT=${folder}/source_ids.hpp
            -DFAMILY=${family} -P ${PROJECT_SOURCE_DIR}/cmake/SourceIds.cmake
    DEPENDS ${paths} ${headers} ${PROJECT_SOURCE_DIR}/cmake/SourceIds.cmake
    COMMENT "Hashing the sources of ${family}"
    VERBATIM)
  add_library(espalier_${family}_registry STATIC ${folder}/registry.cpp ${folder}/source_ids.hpp)
  target_link_libraries(espalier_${family}_registry PRIVATE espalier_core)
endfunction()

# espalier_variant_objects(<target-suffix> <twin>): one object library per variant, named
# espalier_<family>_<name><suffix>, its .cu files compiled against harness/device/<twin>.
function(espalier_variant_objects suffix twin)
  espalier_families(families)
  foreach(family ${families})
    espalier_family_sources(${family} files)
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      set(target espalier_${family}_${name}${suffix})
      set(source ${PROJECT_SOURCE_DIR}/variants/${family}/${file})
      add_library(${target} OBJECT EXCLUDE_FROM_ALL ${source})
      target_link_libraries(${target} PRIVATE espalier_core OpenMP::OpenMP_CXX)
      if(file MATCHES "\\.cu$")
        target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/harness/device/${twin})
        if(twin STREQUAL host)
          # The language is a property of a file, not of a target, and the other twin may want CUDA:
          # compile a one-line wrapper instead.
          set(wrapper ${ESPALIER_GENERATED_DIR}/executor/${family}/${name}.cpp)
          write_if_changed(${wrapper} "#include \"variants/${family}/${file}\"\n")
          set_property(TARGET ${target} PROPERTY SOURCES ${wrapper})
          # "#pragma unroll" is nvcc's.
          target_compile_options(${target} PRIVATE -Wno-unknown-pragmas)
        elseif(file MATCHES "^sm_90a/")
          set_property(TARGET ${target} PROPERTY CUDA_ARCHITECTURES 90a-real)
        endif()
      endif()
    endforeach()
  endforeach()
endfunction()

# espalier_variants_of(<suffix> <out>): the object files of all variants plus the registries' sources.
function(espalier_variants_of suffix out)
  set(objects)
  espalier_families(families)
  foreach(family ${families})
    espalier_family_sources(${family} files)
    foreach(file ${files})
      get_filename_component(name ${file} NAME_WE)
      list(APPEND objects $<TARGET_OBJECTS:espalier_${family}_${name}${suffix}>)
    endforeach()
  endforeach()
  set(${out} ${objects} PARENT_SCOPE)
endfunction()
