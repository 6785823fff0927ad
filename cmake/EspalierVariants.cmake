# The registry of variants, generated from the files under variants/.
#
# A variant is a file variants/<family>/[gpu_only/|sm_90a/|x86/|aarch64/]<name>.{cpp,cu} that defines
# `Variant<Problem> <name>()` in namespace espalier::<family>; other places and endings are errors. From the
# file names come, per family and in the build tree, the enumeration VariantId and the table registry(); a
# file whose function is called otherwise fails at link. Nothing else lists variants. Those in x86/ and aarch64/ are compiled for
# processors of that name alone; elsewhere they keep their place in both, so that a committed selector
# means the same everywhere.

set(ESPALIER_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
include(${CMAKE_CURRENT_LIST_DIR}/EspalierRegistry.cmake)

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

# espalier_shipped(<family> <out>): names of the variants that the library of this build links.
function(espalier_shipped family out)
  espalier_sources_to_link(${family} files ${ESPALIER_SELECTORS_DIR} ${ESPALIER_LOCAL_SELECTORS_DIR})
  set(names)
  foreach(file ${files})
    get_filename_component(name ${file} NAME_WE)
    list(APPEND names ${name})
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# espalier_hash_variants(<family> <header>): <header> with the identities of a family's sources. Wherever below variants/
# they lie: a record that names a source which was edited since would be a lie.
function(espalier_hash_variants family header)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/problems/*.hpp
       ${PROJECT_SOURCE_DIR}/variants/*.hpp ${PROJECT_SOURCE_DIR}/variants/*.cuh)
  espalier_hash_sources(${family} ${header} ${PROJECT_SOURCE_DIR} "variants|kernels/problems" ${headers})
endfunction()

# espalier_generate_registry(<family>): makes of the registry the library espalier_<family>_registry, which needs the code
# of every variant that this build compiles.
function(espalier_generate_registry family)
  espalier_write_registry_headers(${family})
  espalier_compiled_paths(${family} all names)
  set(folder ${ESPALIER_GENERATED_DIR}/registries/${family})
  espalier_write_registry(${family} built_in_registry ${folder}/registry.cpp registries/${family}/source_ids.hpp ${names})
  # Apart, so that a program with variants of its own may have another.
  write_if_changed(${folder}/built_in_alone.cpp "#include \"registries/${family}/registry.hpp\"

namespace espalier::${family} {

std::span<const Registered<Problem>> registry() { return built_in_registry(); }

}  // namespace espalier::${family}
")
  espalier_hash_variants(${family} registries/${family}/source_ids.hpp)
  add_library(espalier_${family}_registry STATIC ${folder}/registry.cpp ${folder}/built_in_alone.cpp
                                                 ${folder}/source_ids.hpp)
  target_link_libraries(espalier_${family}_registry PRIVATE espalier_core)
endfunction()

# Variants of device/swizzled_products.hpp, which has instructions of compute capability 9.0 alone where it may.
set(ESPALIER_WARPGROUP_VARIANTS distance/split_products knn/screened_groups knn/screened_threshold)

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
