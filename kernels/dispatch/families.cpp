#include "kernels/dispatch/families.hpp"

#include <algorithm>

#include "kernels/core/similar_name.hpp"

namespace espalier {

const KernelFamily* find_kernel_family(std::string_view name) {
    const auto all = kernel_families();
    const auto found = std::ranges::find(all, name, &KernelFamily::name);
    return found == all.end() ? nullptr : &*found;
}

std::string kernel_family_names() {
    std::string names;
    for (const KernelFamily& family : kernel_families()) names.append(names.empty() ? "" : ", ").append(family.name);
    return names;
}

std::string similar_family(std::string_view name) {
    SimilarName meant(name);
    for (const KernelFamily& family : kernel_families()) meant.offer(family.name);
    return meant.question();
}

}  // namespace espalier
