# Generates the library's dispatch tables from the folders of variants/ and the trees of kernels/selectors/.
#
# A file <selectors-dir>/<family>/<device-key>.tree is a tree as `espalier train` writes it. The build makes tables of all
# trees of a family, which the compiler checks: what they rank are enumerators of the family's variants.

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

# espalier_add_tree_tables(): the program that makes C++ of trees. It runs while the library is built.
function(espalier_add_tree_tables)
  espalier_families(families)
  set(includes "")
  set(sources "")
  foreach(family ${families})
    string(APPEND includes "#include \"kernels/problems/${family}.hpp\"\n")
    string(APPEND sources " source_of<${family}::Problem>(\"${family}\"),")
  endforeach()
  set(list ${ESPALIER_GENERATED_DIR}/kernels/family_sources.cpp)
  write_if_changed(${list} "#include \"kernels/tables/tree_tables.hpp\"
${includes}
namespace espalier::tables {
std::vector<FamilySource> family_sources() { return {${sources}}; }
}  // namespace espalier::tables
")
  add_executable(espalier_tree_tables tables/main.cpp tables/tree_tables.cpp dispatch/tree_file.cpp ${list}
                                      $<TARGET_OBJECTS:espalier_json>)
  target_link_libraries(espalier_tree_tables PRIVATE espalier_core nlohmann_json::nlohmann_json)
endfunction()

# espalier_add_selectors(<target> <selectors-dirs...>): an object library with the tables of every family's trees,
# selectors_in_this_program(). No object has those of two families: a program links what it uses.
function(espalier_add_selectors target)
  espalier_families(families)
  file(MAKE_DIRECTORY ${ESPALIER_GENERATED_DIR}/${target})
  set(sources)
  foreach(family ${families})
    espalier_selector_files(trees ${family} ${ARGN})
    set(tables ${ESPALIER_GENERATED_DIR}/${target}/${family}.cpp)
    add_custom_command(OUTPUT ${tables} COMMAND espalier_tree_tables ${family} ${tables} ${trees}
                       DEPENDS espalier_tree_tables ${trees} COMMENT "Trees of ${family}" VERBATIM)
    list(APPEND sources ${tables})
  endforeach()
  add_library(${target} OBJECT ${sources})
  target_link_libraries(${target} PRIVATE espalier_core)
endfunction()

# espalier_generate_kernel_families(<out>): the headers registries/<family>/selectors.hpp, per family a source that
# instantiates the dispatch, one that lists the families which the linker found, and one that needs them all; sets <out>
# to the sources.
#
# The list refers to the families weakly, so that it makes no linker take one out of a static library: a program has the
# families whose functions it calls. What is to have them all is linked with -u espalier_every_family (espalier_links_all).
function(espalier_generate_kernel_families out)
  espalier_families(families)
  list(LENGTH families count)
  set(folder ${ESPALIER_GENERATED_DIR}/kernels)
  set(sources)
  set(declarations "")
  set(weak "")
  set(names "")
  set(additions "")
  set(pointers "")
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
    set(refusal "")
    if(EXISTS ${PROJECT_SOURCE_DIR}/kernels/dispatch/refusals/${family}.hpp)
      set(refusal "#include \"kernels/dispatch/refusals/${family}.hpp\"\n")
    endif()
    write_if_changed(${folder}/family_${family}.cpp "#include \"kernels/dispatch/family_entry.hpp\"
${refusal}#include \"registries/${family}/registry.hpp\"
#include \"registries/${family}/selectors.hpp\"

namespace espalier {

namespace ${family} {
Tables<Problem> tables_of(const Problem*) { return {\"${family}\", registry(), selectors_in_this_program()}; }
}  // namespace ${family}
template Tables<${family}::Problem> tables();
template Chosen<${family}::Problem> choose(const ${family}::Problem&, const DeviceInfo&);

namespace ${family} {
KernelFamily kernel_family();
KernelFamily kernel_family() { return kernel_family_of<Problem>(\"${family}\"); }
}  // namespace ${family}

}  // namespace espalier
")
    list(APPEND sources ${folder}/family_${family}.cpp)
    string(APPEND declarations "namespace ${family} {\nKernelFamily kernel_family();\n}\n")
    string(APPEND weak "namespace ${family} {\n[[gnu::weak]] KernelFamily kernel_family();\n}\n")
    string(APPEND names "\n    \"${family}\",")
    string(APPEND additions "        if (${family}::kernel_family) linked[count++] = ${family}::kernel_family();\n")
    string(APPEND pointers " ${family}::kernel_family,")
  endforeach()
  write_if_changed(${folder}/families.cpp "#include <array>

#include \"kernels/dispatch/families.hpp\"

namespace espalier {

${weak}
namespace {

constexpr std::array<std::string_view, ${count}> kNames{${names}
};

struct LinkedFamilies {
    LinkedFamilies() {
${additions}    }

    std::array<KernelFamily, ${count}> linked{};
    std::size_t count = 0;
};

}  // namespace

std::span<const std::string_view> family_names() { return kNames; }

std::span<const KernelFamily> kernel_families() {
    static const LinkedFamilies all;
    return std::span(all.linked).first(all.count);
}

}  // namespace espalier
")
  write_if_changed(${folder}/every_family.cpp "#include \"kernels/dispatch/families.hpp\"

namespace espalier {
${declarations}
// Of C's linkage, so that the linker can be asked for it by name.
extern \"C\" KernelFamily (*const espalier_every_family[])();
extern \"C\" {
KernelFamily (*const espalier_every_family[])() = {${pointers}};
}

}  // namespace espalier
")
  list(APPEND sources ${folder}/families.cpp ${folder}/every_family.cpp)
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# espalier_links_all(<target>): a program that links the target has every family, whichever it calls.
function(espalier_links_all target)
  target_link_options(${target} INTERFACE LINKER:-u,espalier_every_family)
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
