# Generates the library's dispatch tables from the folders of variants/ and the trees of kernels/selectors/.
#
# A file <selectors-dir>/<family>/<device-key>.tree is a tree as `espalier train` writes it. The build makes tables of all
# trees of a family, which the compiler checks: what they rank are enumerators of the family's variants.

# espalier_add_tree_tables(): the program that makes C++ of trees. It runs while the library is built.
function(espalier_add_tree_tables)
  espalier_families(families)
  set(list ${ESPALIER_GENERATED_DIR}/kernels/family_sources.cpp)
  espalier_write_tree_sources(${list} ${families})
  add_library(espalier_tables STATIC tables/main.cpp tables/tree_tables.cpp dispatch/tree_file.cpp
                                     $<TARGET_OBJECTS:espalier_json>)
  target_link_libraries(espalier_tables PUBLIC espalier_core PRIVATE nlohmann_json::nlohmann_json)
  add_executable(espalier_tree_tables ${list})
  target_link_libraries(espalier_tree_tables PRIVATE espalier_tables)
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

# espalier_generate_kernel_families(<out>): per family the header registries/<family>/selectors.hpp and a source that
# instantiates the dispatch, one that lists the families which the linker found, and one that needs them all; sets <out>
# to the sources.
function(espalier_generate_kernel_families out)
  espalier_families(families)
  set(folder ${ESPALIER_GENERATED_DIR}/kernels)
  set(sources)
  foreach(family ${families})
    set(refusal "")
    if(EXISTS ${PROJECT_SOURCE_DIR}/kernels/dispatch/refusals/${family}.hpp)
      set(refusal "#include \"kernels/dispatch/refusals/${family}.hpp\"\n")
    endif()
    espalier_write_kernel_family(${family} ${folder}/family_${family}.cpp "${refusal}")
    list(APPEND sources ${folder}/family_${family}.cpp)
  endforeach()
  espalier_write_kernel_list(${folder}/families.cpp ${families})
  espalier_write_every_family(${folder}/every_family.cpp ${families})
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
    set(source_ids shipped/${family}_source_ids.hpp)
    espalier_hash_variants(${family} ${source_ids})
    espalier_write_registry(${family} registry ${registry} ${source_ids} ${names})
    list(APPEND sources ${registry} ${ESPALIER_GENERATED_DIR}/${source_ids})
    foreach(name ${names})
      espalier_objects_of(espalier_${family}_${name} own)
      list(APPEND sources ${own})
    endforeach()
  endforeach()
  list(REMOVE_DUPLICATES sources)
  set(${out} ${sources} PARENT_SCOPE)
endfunction()
