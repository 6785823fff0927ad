#include "kernels/dispatch/families.hpp"

#include <algorithm>

#include "kernels/core/similar_name.hpp"

namespace espalier {

const KernelFamily* find_kernel_family(std::string_view name) {
    const auto all = kernel_families();
    const auto found = std::ranges::find(all, name, &KernelFamily::name);
    return found == all.end() ? nullptr : &*found;
}

bool is_family(std::string_view name) { return std::ranges::find(family_names(), name) != family_names().end(); }

std::string family_list() {
    std::string names;
    for (const std::string_view name : family_names()) names.append(names.empty() ? "" : ", ").append(name);
    return names;
}

std::string similar_family(std::string_view name) {
    SimilarName meant(name);
    for (const std::string_view family : family_names()) meant.offer(family);
    return meant.question();
}

std::string how_to_link(std::string_view family) {
    return "call a function of it and link espalier::" + std::string(family) +
           ", or link espalier::espalier, which has all";
}

}  // namespace espalier
