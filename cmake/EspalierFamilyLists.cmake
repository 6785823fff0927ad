# The C++ that lists a program's families: for the dispatch, for the program that makes tables of trees, for the harness.
# The project's own build and projects that bring their own families (EspalierOwn.cmake) use the same.

# espalier_write_tree_sources(<path> <families...>): the families of the program that makes C++ of trees.
function(espalier_write_tree_sources path)
  set(includes "")
  set(sources "")
  foreach(family ${ARGN})
    espalier_family_place(${family} root shown problem)
    string(APPEND includes "#include \"${problem}\"\n")
    string(APPEND sources " source_of<${family}::Problem>(\"${family}\", \"${problem}\"),")
  endforeach()
  write_if_changed(${path} "#include \"kernels/tables/tree_tables.hpp\"
${includes}
namespace espalier::tables {
std::vector<FamilySource> family_sources() { return {${sources}}; }
}  // namespace espalier::tables
")
endfunction()

# espalier_write_kernel_family(<family> <path> <includes>): its header registries/<family>/selectors.hpp, and the source
# that instantiates its dispatch.
function(espalier_write_kernel_family family path includes)
  espalier_family_place(${family} root shown problem)
  write_if_changed(${ESPALIER_GENERATED_DIR}/registries/${family}/selectors.hpp "#pragma once

#include <span>

#include \"kernels/core/selector.hpp\"
#include \"${problem}\"

namespace espalier::${family} {

/// The trained selectors that are linked into this program, by device key.
std::span<const Selector<Problem>> selectors_in_this_program();

}  // namespace espalier::${family}
")
  write_if_changed(${path} "#include \"kernels/dispatch/family_entry.hpp\"
${includes}#include \"registries/${family}/registry.hpp\"
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
endfunction()

# espalier_write_kernel_list(<path> <families...>): family_names() and kernel_families(). The list refers to the families
# weakly, so that it makes no linker take one out of a static library: a program has the families whose functions it
# calls. What is to have them all is linked with -u espalier_every_family (espalier_links_all).
function(espalier_write_kernel_list path)
  list(LENGTH ARGN count)
  set(weak "")
  set(names "")
  set(additions "")
  foreach(family ${ARGN})
    string(APPEND weak "namespace ${family} {\n[[gnu::weak]] KernelFamily kernel_family();\n}\n")
    string(APPEND names "\n    \"${family}\",")
    string(APPEND additions "        if (${family}::kernel_family) linked[count++] = ${family}::kernel_family();\n")
  endforeach()
  write_if_changed(${path} "#include <array>

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
endfunction()

# espalier_write_every_family(<path> <families...>): what needs them all.
function(espalier_write_every_family path)
  set(declarations "")
  set(pointers "")
  foreach(family ${ARGN})
    string(APPEND declarations "namespace ${family} {\nKernelFamily kernel_family();\n}\n")
    string(APPEND pointers " ${family}::kernel_family,")
  endforeach()
  write_if_changed(${path} "#include \"kernels/dispatch/families.hpp\"

namespace espalier {
${declarations}
// Of C's linkage, so that the linker can be asked for it by name.
extern \"C\" KernelFamily (*const espalier_every_family[])();
extern \"C\" {
KernelFamily (*const espalier_every_family[])() = {${pointers}};
}

}  // namespace espalier
")
endfunction()

# espalier_write_bench_families(<path> <families...>): the harness's list of families().
function(espalier_write_bench_families path)
  set(declarations "")
  set(entries "")
  set(includes "")
  set(pointers "")
  foreach(family ${ARGN})
    string(APPEND declarations "namespace ${family} {\nusing namespace ::espalier::${family};\nSuite<Problem> suite();\n}\n")
    string(APPEND entries "    static const FamilyOf<${family}::Problem> ${family}(\"${family}\", ${family}::registry(), ${family}::suite());\n")
    string(APPEND includes "#include \"registries/${family}/registry.hpp\"\n")
    string(APPEND pointers " &${family},")
  endforeach()
  list(LENGTH ARGN count)
  write_if_changed(${path} "#include <array>

#include \"harness/bench/families/family_of.hpp\"
${includes}
namespace espalier::bench {

${declarations}
std::span<const Family* const> families() {
${entries}    static const std::array<const Family*, ${count}> all{${pointers}};
    return all;
}

}  // namespace espalier::bench
")
endfunction()
