#include "kernels/api/c/radius_lists.hpp"

namespace {

template <class T>
const T* data_or_null(const std::vector<T>& values) {
    return values.empty() ? nullptr : values.data();
}

}  // namespace

const std::int64_t* espalier_radius_lists_offsets(const espalier_radius_lists* lists) noexcept {
    return lists ? lists->offsets.data() : nullptr;
}
const std::int32_t* espalier_radius_lists_indices(const espalier_radius_lists* lists) noexcept {
    return lists ? data_or_null(lists->indices) : nullptr;
}
const float* espalier_radius_lists_distances(const espalier_radius_lists* lists) noexcept {
    return lists ? data_or_null(lists->distances) : nullptr;
}
const double* espalier_radius_lists_exact_distances(const espalier_radius_lists* lists) noexcept {
    return lists ? data_or_null(lists->exact_distances) : nullptr;
}
void espalier_radius_lists_free(espalier_radius_lists* lists) noexcept { delete lists; }
