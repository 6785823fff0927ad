# What the library dispatches with, generated from the folders of variants/ and the generated selectors.
#
# A file <selectors-dir>/<family>/<device-key>.gen.cpp defines `Selector<Problem> <key>()` in namespace
# espalier::<family>::selectors, where <key> is the device key as a C identifier: cpu_zen4_avx2_2t.

# espalier_selector_files(<out> <family> <selectors-dirs...>): the selectors of a family, in the order of their device
# keys. Of two of the same device the later folder's counts.
function(espalier_selector_files out family)
  set(keys)
  foreach(folder ${ARGN})
    file(GLOB files CONFIGURE_DEPENDS ${folder}/${family}/*.gen.cpp)
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

# espalier_add_selectors(<target> <selectors-dirs...>): an object library with the selectors of every family and
# the definitions of their tables, selectors().
function(espalier_add_selectors target)
  espalier_families(families)
  set(tables)
  set(stems)
  foreach(family ${families})
    espalier_selector_files(files ${family} ${ARGN})
    set(declarations "")
    set(entries "")
    foreach(file ${files})
      get_filename_component(key ${file} NAME)
      string(REGEX REPLACE "\\.gen\\.cpp$" "" key ${key})
      string(MAKE_C_IDENTIFIER ${key} key)
      list(APPEND stems ${key})
      list(APPEND files_${key} ${file})
      string(APPEND declarations "Selector<Problem> ${key}();\n")
      string(APPEND entries " selectors::${key}(),")
    endforeach()
    list(LENGTH files count)
    set(table ${ESPALIER_GENERATED_DIR}/${target}/${family}.cpp)
    write_if_changed(${table} "#include \"registries/${family}/selectors.hpp\"

#include <array>

namespace espalier::${family} {

namespace selectors {
${declarations}}  // namespace selectors

std::span<const Selector<Problem>> selectors_in_this_program() {
    static const std::array<Selector<Problem>, ${count}> all{${entries}};
    return all;
}

}  // namespace espalier::${family}
")
    list(APPEND tables ${table})
  endforeach()
  espalier_grouped(sources ${target} 1 ${tables})
  list(REMOVE_DUPLICATES stems)
  foreach(key ${stems})  # in one file's selectors the same names come again in another device's of the family
    espalier_grouped(files ${target}_${key} 1 ${files_${key}})
    list(APPEND sources ${files})
  endforeach()
  add_library(${target} OBJECT ${sources})
  target_link_libraries(${target} PRIVATE espalier_core)
endfunction()

# espalier_generate_kernel_families(<out>): the headers registries/<family>/selectors.hpp and one source that
# instantiates the dispatch for every family and lists them; sets <out> to that source.
function(espalier_generate_kernel_families out)
  espalier_families(families)
  set(includes "")
  set(definitions "")
  set(entries "")
  foreach(family ${families})
    write_if_changed(${ESPALIER_GENERATED_DIR}/registries/${family}/selectors.hpp "#pragma once

#include <span>

#include \"kernels/core/selector.hpp\"
#include \"kernels/problems/${family}.hpp\"

namespace espalier::${family} {

/// The trained selectors that are linked into this program, by device key.
std::span<const Selector<Problem>> selectors_in_this_program();

}  // namespace espalier::${family}
")
    string(APPEND includes "#include \"registries/${family}/registry.hpp\"\n#include \"registries/${family}/selectors.hpp\"\n")
    string(APPEND definitions "namespace ${family} {
Tables<Problem> tables_of(const Problem*) { return {\"${family}\", registry(), selectors_in_this_program()}; }
}  // namespace ${family}
template Tables<${family}::Problem> tables();
template Chosen<${family}::Problem> choose(const ${family}::Problem&, const DeviceInfo&);

")
    string(APPEND entries "        KernelFamily{\"${family}\", explain_key<${family}::Problem>, loaded_tree<${family}::Problem>,\n                     loaded_table<${family}::Problem>, publish_table<${family}::Problem>},\n")
  endforeach()
  set(source ${ESPALIER_GENERATED_DIR}/kernels/families.cpp)
  write_if_changed(${source} "#include <array>

#include \"kernels/dispatch/family_entry.hpp\"
${includes}
namespace espalier {

${definitions}std::span<const KernelFamily> kernel_families() {
    static constexpr std::array all{
${entries}    };
    return all;
}

}  // namespace espalier
")
  set(${out} ${source} PARENT_SCOPE)
endfunction()

# espalier_shipped_sources(<out>): the registries of the shipping library and the objects that they link.
function(espalier_shipped_sources out)
  espalier_families(families)
  set(sources)
  foreach(family ${families})
    espalier_shipped(${family} names)
    set(registry ${ESPALIER_GENERATED_DIR}/shipped/${family}.cpp)
    espalier_write_registry(${family} ${registry} FALSE ${names})
    list(APPEND sources ${registry})
    foreach(name ${names})
      espalier_objects_of(espalier_${family}_${name} own)
      list(APPEND sources ${own})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES sources)
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
