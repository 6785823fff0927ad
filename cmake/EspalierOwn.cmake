# Bring your own kernels: find_package(espalier CONFIG COMPONENTS harness) gives these functions to a project.
#
#   espalier_add_family(<folder>)             a family: problem.hpp, suite.cpp, variants/; called as its folder
#   espalier_add_variants(<family> <folder>)  more variants for a built-in family
#   espalier_add_program(<name> [BUILT_IN] [SELECTORS <folder>])
#                                             the command line with the own families, and the built-in ones if asked for
#   espalier_add_library(<name> [STATIC|SHARED] [SELECTORS <folder>])
#                                             the own families for others to link, in a namespace of that name
#
# Trees of <folder>, by default selectors/ beside the calling CMakeLists.txt, are compiled in: <folder>/<family>/*.tree.

# espalier_own_place(<family> <root> <shown> <problem> <parent>): where the variants are, how they are shown and include
# their problem, and the folder that includes of the family's own headers begin at.
function(espalier_own_place family root shown problem parent)
  set_property(GLOBAL PROPERTY ESPALIER_PLACE_OF_${family} ${root} ${shown} ${problem})
  set_property(GLOBAL PROPERTY ESPALIER_PARENT_OF_${family} ${parent})
endfunction()

# espalier_own_objects(<target> <family> <sources...>): an object library; .cu files are compiled by nvcc, or run on the
# host executor where the package was built without it.
function(espalier_own_objects target family)
  get_property(parent GLOBAL PROPERTY ESPALIER_PARENT_OF_${family})
  set(sources)
  foreach(source ${ARGN})
    if(source MATCHES "[.]cu$" AND NOT ESPALIER_CUDA)
      get_filename_component(name ${source} NAME_WE)
      set(wrapper ${ESPALIER_GENERATED_DIR}/executor/${family}/${name}.cpp)
      write_if_changed(${wrapper} "#include \"${source}\"\n")
      set(source ${wrapper})
    endif()
    list(APPEND sources ${source})
  endforeach()
  add_library(${target} OBJECT ${sources})
  set(twin ${ESPALIER_HARNESS_INCLUDE_DIR}/harness/emulator)
  if(ESPALIER_CUDA)
    set(twin ${ESPALIER_HARNESS_INCLUDE_DIR}/kernels/device/cuda)
    if(NOT CMAKE_CUDA_COMPILER AND "${ARGN}" MATCHES "[.]cu(;|$)")
      espalier_own_error("CMakeLists.txt: this espalier was built with CUDA: write project(... LANGUAGES CXX CUDA)")
    endif()
  endif()
  target_include_directories(${target} PRIVATE ${ESPALIER_GENERATED_DIR} ${twin} ${parent})
  target_link_libraries(${target} PRIVATE espalier::own_sources)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                        CUDA_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON CXX_STANDARD 20 CUDA_STANDARD 20)
endfunction()

# espalier_own_registry(<family> <function> [enumerators]): headers, table and identities of its variants, in the object
# libraries espalier_own_<family>_registry and espalier_own_<family>_variants.
function(espalier_own_registry family function)
  get_property(parent GLOBAL PROPERTY ESPALIER_PARENT_OF_${family})
  espalier_family_place(${family} root shown problem)
  espalier_write_registry_headers(${family} "${ARGN}")
  espalier_compiled_paths(${family} all names)
  set(registry ${ESPALIER_GENERATED_DIR}/registries/${family}/registry.cpp)
  set(source_ids registries/${family}/source_ids.hpp)
  espalier_write_registry(${family} ${function} ${registry} ${source_ids} ${names})
  string(REGEX REPLACE "/.*" "" inside ${shown})
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${root}/*.hpp ${root}/*.cuh)
  if(EXISTS ${parent}/${problem})
    list(APPEND headers ${parent}/${problem})
  endif()
  espalier_hash_sources(${family} ${source_ids} "${parent};${ESPALIER_HARNESS_INCLUDE_DIR}"
                        "${inside}|variants|kernels/problems" ${headers})
  espalier_own_objects(espalier_own_${family}_registry ${family} ${registry}
                       ${ESPALIER_GENERATED_DIR}/${source_ids})
  espalier_compiled_sources(${family} files)
  list(TRANSFORM files PREPEND ${root}/)
  espalier_own_objects(espalier_own_${family}_variants ${family} ${files})
endfunction()

function(espalier_add_family folder)
  get_filename_component(folder ${folder} ABSOLUTE)
  get_filename_component(family ${folder} NAME)
  get_filename_component(parent ${folder} DIRECTORY)
  espalier_own_place(${family} ${folder}/variants ${family}/variants ${family}/problem.hpp ${parent})
  set(wrong "")
  espalier_check_own_family(${family} ${folder} wrong)
  espalier_own_error("${wrong}")
  set_property(GLOBAL APPEND PROPERTY ESPALIER_OWN_FAMILIES ${family})
  espalier_own_registry(${family} registry)
  file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  espalier_own_objects(espalier_own_${family}_suite ${family} ${sources})
endfunction()

function(espalier_add_variants family folder)
  get_filename_component(folder ${folder} ABSOLUTE)
  get_filename_component(shown ${folder} NAME)
  get_filename_component(parent ${folder} DIRECTORY)
  if(NOT family IN_LIST ESPALIER_BUILT_IN_FAMILIES)
    list(JOIN ESPALIER_BUILT_IN_FAMILIES ", " known)
    espalier_own_error("espalier_add_variants(${family} ...): the built-in families are ${known}: name one of them, or put \
the files into the variants/ of your own family")
  endif()
  espalier_own_place(${family} ${folder} ${shown} kernels/problems/${family}.hpp ${parent})
  file(READ ${ESPALIER_HARNESS_INCLUDE_DIR}/registries/${family}/ids.hpp built_in)
  string(REGEX REPLACE ".*{\n(.*)};.*" "\\1" built_in "${built_in}")
  set(wrong "")
  espalier_check_own_variants(${family} ${folder} ${shown} wrong)
  espalier_own_error("${wrong}")
  set_property(GLOBAL APPEND PROPERTY ESPALIER_EXTENDED_FAMILIES ${family})
  espalier_own_registry(${family} own_registry "${built_in}")
  set(joined ${ESPALIER_GENERATED_DIR}/registries/${family}/joined.cpp)
  write_if_changed(${joined} "#include <vector>

#include \"registries/${family}/registry.hpp\"

namespace espalier::${family} {

std::span<const Registered<Problem>> own_registry();

std::span<const Registered<Problem>> registry() {
    static const std::vector<Registered<Problem>> all = [] {
        const auto built_in = built_in_registry(), own = own_registry();
        std::vector<Registered<Problem>> both(built_in.begin(), built_in.end());
        both.insert(both.end(), own.begin(), own.end());
        return both;
    }();
    return all;
}

}  // namespace espalier::${family}
")
  espalier_own_objects(espalier_own_${family}_suite ${family} ${joined})
endfunction()

# espalier_own_families(<out>): the families of the project, with the built-in ones that it added to. An error if there are
# none.
function(espalier_own_families out)
  get_property(own GLOBAL PROPERTY ESPALIER_OWN_FAMILIES)
  get_property(extended GLOBAL PROPERTY ESPALIER_EXTENDED_FAMILIES)
  list(APPEND own ${extended})
  list(SORT own)
  set(${out} ${own} PARENT_SCOPE)
endfunction()

# espalier_own_tables(<target> <selectors-dir> <families...>): an object library with the tables of their trees.
function(espalier_own_tables target selectors)
  if(NOT TARGET espalier_own_tree_tables)
    espalier_own_families(all)
    set(list ${ESPALIER_GENERATED_DIR}/family_sources.cpp)
    espalier_write_tree_sources(${list} ${all})
    add_executable(espalier_own_tree_tables ${list})
    foreach(family ${all})
      get_property(parent GLOBAL PROPERTY ESPALIER_PARENT_OF_${family})
      target_include_directories(espalier_own_tree_tables PRIVATE ${parent})
    endforeach()
    target_link_libraries(espalier_own_tree_tables PRIVATE espalier::own_sources espalier::tables)
  endif()
  set(sources)
  foreach(family ${ARGN})
    espalier_selector_files(trees ${family} ${selectors})
    set(table ${ESPALIER_GENERATED_DIR}/${target}/${family}.cpp)
    file(MAKE_DIRECTORY ${ESPALIER_GENERATED_DIR}/${target})
    add_custom_command(OUTPUT ${table} COMMAND espalier_own_tree_tables ${family} ${table} ${trees}
                       DEPENDS espalier_own_tree_tables ${trees} COMMENT "Trees of ${family}" VERBATIM)
    list(APPEND sources ${table})
    get_property(parent GLOBAL PROPERTY ESPALIER_PARENT_OF_${family})
    list(APPEND parents ${parent})
  endforeach()
  list(GET ARGN 0 first)
  espalier_own_objects(${target} ${first} ${sources})
  target_include_directories(${target} PRIVATE ${parents})
endfunction()

function(espalier_add_program name)
  cmake_parse_arguments(own "BUILT_IN" "SELECTORS" "" ${ARGN})
  if(NOT own_SELECTORS)
    set(own_SELECTORS ${CMAKE_CURRENT_SOURCE_DIR}/selectors)
  endif()
  espalier_own_families(families)
  if(NOT families AND NOT own_BUILT_IN)
    espalier_own_error("espalier_add_program(${name}): there is no family: call espalier_add_family or \
espalier_add_variants before it, or say BUILT_IN")
  endif()
  get_property(new GLOBAL PROPERTY ESPALIER_OWN_FAMILIES)
  set(listed ${families})
  set(dispatched ${ESPALIER_BUILT_IN_FAMILIES} ${new})
  if(own_BUILT_IN)
    set(listed ${dispatched})
  endif()
  list(SORT listed)
  list(SORT dispatched)
  set(folder ${ESPALIER_GENERATED_DIR}/${name})
  espalier_write_bench_families(${folder}/families.cpp ${listed})
  espalier_write_kernel_list(${folder}/kernel_families.cpp ${dispatched})
  write_if_changed(${folder}/main.cpp "#include \"harness/cli/program.hpp\"

int main(int argc, char** argv) { return espalier::bench::cli::run_program(argc, argv, \"${ESPALIER_PREFIX}\"); }
")
  add_executable(${name} ${folder}/main.cpp ${folder}/families.cpp ${folder}/kernel_families.cpp)
  target_include_directories(${name} PRIVATE ${ESPALIER_GENERATED_DIR})
  foreach(family ${families})
    get_property(parent GLOBAL PROPERTY ESPALIER_PARENT_OF_${family})
    target_include_directories(${name} PRIVATE ${parent})
    foreach(part registry variants suite)
      target_sources(${name} PRIVATE $<TARGET_OBJECTS:espalier_own_${family}_${part}>)
    endforeach()
    espalier_compiled_sources(${family} files)
    foreach(file ${files})
      get_filename_component(variant ${file} NAME_WE)
      add_test(NAME ${name}.${family}.${variant} COMMAND ${name} verify-variant ${family}/${variant})
      set_tests_properties(${name}.${family}.${variant} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
  endforeach()
  foreach(family ${new})
    espalier_write_kernel_family(${family} ${folder}/family_${family}.cpp "")
    target_sources(${name} PRIVATE ${folder}/family_${family}.cpp)
  endforeach()
  if(families)
    espalier_own_tables(espalier_trees_of_${name} ${own_SELECTORS} ${families})
    target_sources(${name} PRIVATE $<TARGET_OBJECTS:espalier_trees_of_${name}>)
  endif()
  target_link_libraries(${name} PRIVATE espalier::own_sources espalier::harness)
  set_target_properties(${name} PROPERTIES CXX_STANDARD 20 LINKER_LANGUAGE CXX)
endfunction()

# espalier_own_functions(<name> <family> <folder>): the family's part of the library's header and the source behind it.
function(espalier_own_functions name family folder)
  espalier_family_place(${family} root shown problem)
  write_if_changed(${folder}/include/${name}/${family}.hpp "// Made by espalier_add_library(${name}).
#pragma once

#include <espalier/error.hpp>

#include \"kernels/dispatch/own_library.hpp\"
#include \"${problem}\"

namespace ${name} {

using espalier::own::Choice;
using espalier::own::Where;

namespace ${family} {

using espalier::${family}::Buffers;
using espalier::${family}::Problem;

/// Runs the variant that the trees choose for `problem` there. `buffers` are what the device of `where` reaches.
[[gnu::visibility(\"default\")]] espalier::Result<void> run(const Problem& problem, const Buffers& buffers,
                                                          const Where& where = {});

/// Says what `run` would run, and why.
[[gnu::visibility(\"default\")]] espalier::Result<Choice> choose(const Problem& problem, const Where& where = {});

}  // namespace ${family}
}  // namespace ${name}
")
  write_if_changed(${folder}/${family}_functions.cpp "#include \"${name}/${family}.hpp\"

#include \"kernels/api/own_call.hpp\"

namespace ${name}::${family} {

espalier::Result<void> run(const Problem& problem, const Buffers& buffers, const Where& where) {
    return espalier::own::run(problem, buffers, where);
}

espalier::Result<Choice> choose(const Problem& problem, const Where& where) {
    return espalier::own::choose(problem, where);
}

}  // namespace ${name}::${family}
")
endfunction()

# espalier_own_parts(<name> <selectors-dir> <out>): object libraries with all that the library is made of but the runtime.
function(espalier_own_parts name selectors out)
  get_property(families GLOBAL PROPERTY ESPALIER_OWN_FAMILIES)
  set(folder ${ESPALIER_GENERATED_DIR}/${name})
  espalier_own_tables(espalier_trees_of_${name} ${selectors} ${families})
  set(parts espalier_trees_of_${name})
  espalier_write_kernel_list(${folder}/kernel_families.cpp ${families})
  set(list ${folder}/kernel_families.cpp)
  foreach(family ${families})
    espalier_sources_to_link(${family} files ${selectors})
    set(names)
    foreach(file ${files})
      get_filename_component(variant ${file} NAME_WE)
      list(APPEND names ${variant})
    endforeach()
    espalier_family_place(${family} root shown problem)
    list(TRANSFORM files PREPEND ${root}/)
    espalier_write_registry(${family} registry ${folder}/${family}_registry.cpp FALSE ${names})
    espalier_write_kernel_family(${family} ${folder}/family_${family}.cpp "")
    espalier_own_functions(${name} ${family} ${folder})
    espalier_own_objects(espalier_${family}_of_${name} ${family} ${files} ${folder}/${family}_registry.cpp
                         ${folder}/family_${family}.cpp ${folder}/${family}_functions.cpp ${list})
    target_include_directories(espalier_${family}_of_${name} PRIVATE ${folder}/include)
    list(APPEND parts espalier_${family}_of_${name})
    set(list)
  endforeach()
  set(${out} ${parts} PARENT_SCOPE)
endfunction()

function(espalier_add_library name)
  cmake_parse_arguments(own "STATIC;SHARED" "SELECTORS" "" ${ARGN})
  get_property(families GLOBAL PROPERTY ESPALIER_OWN_FAMILIES)
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$" OR name STREQUAL "espalier")
    espalier_own_error("espalier_add_library(${name}): its namespace is called so: name it [a-z][a-z0-9_]*, not espalier")
  elseif(NOT families)
    espalier_own_error("espalier_add_library(${name}): it is of own families: call espalier_add_family before it; variants \
that were added to built-in families are used through the program and ESPALIER_SELECTORS")
  endif()
  if(NOT own_SELECTORS)
    set(own_SELECTORS ${CMAKE_CURRENT_SOURCE_DIR}/selectors)
  endif()
  espalier_own_parts(${name} ${own_SELECTORS} parts)
  set(objects)
  foreach(part ${parts})
    list(APPEND objects $<TARGET_OBJECTS:${part}>)
  endforeach()
  string(LENGTH ${name} length)
  set(folder ${ESPALIER_GENERATED_DIR}/${name})
  if(own_SHARED OR (BUILD_SHARED_LIBS AND NOT own_STATIC))
    write_if_changed(${folder}/exports.map "{ global: _Z*${length}${name}*; local: *; };\n")
    add_library(${name} SHARED ${objects})
    target_link_libraries(${name} PRIVATE espalier::runtime)
    target_link_options(${name} PRIVATE LINKER:--no-undefined LINKER:--version-script=${folder}/exports.map)
  else()
    # One object whose names are its own but for those of its namespace: it lies beside any other library, espalier's too.
    set(whole ${folder}/${name}.o)
    add_custom_command(OUTPUT ${whole}
      COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${whole}.all ${objects} $<TARGET_FILE:espalier::runtime>
      COMMAND ${CMAKE_OBJCOPY} --wildcard --keep-global-symbol=_Z*${length}${name}* ${whole}.all ${whole}
      DEPENDS ${objects} $<TARGET_FILE:espalier::runtime> COMMAND_EXPAND_LISTS VERBATIM COMMENT "Closing ${name}")
    set_source_files_properties(${whole} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    add_library(${name} STATIC ${whole})
  endif()
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  foreach(family ${families})
    get_property(parent GLOBAL PROPERTY ESPALIER_PARENT_OF_${family})
    target_include_directories(${name} PUBLIC ${parent})
  endforeach()
  target_include_directories(${name} PUBLIC ${folder}/include ${ESPALIER_HARNESS_INCLUDE_DIR}
                                            ${ESPALIER_PREFIX}/include)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_link_libraries(${name} PRIVATE OpenMP::OpenMP_CXX)
  if(ESPALIER_CUDA)
    target_link_libraries(${name} PRIVATE CUDA::cudart_static)
  endif()
endfunction()
