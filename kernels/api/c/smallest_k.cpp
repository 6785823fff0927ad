#include "espalier/c/neighbours.h"
#include "kernels/api/c/call.hpp"

using namespace espalier;
using c::call;

namespace {

SelectionShape shape_of(const espalier_selection_shape* given) {
    const auto shape = c::known(given, "shape");
    return {.rows = shape.rows,
            .columns = shape.columns,
            .k = shape.k,
            .layout = c::matrix_layout(shape.layout, "shape.layout"),
            .order = c::enumerator(shape.order, ListOrder::any, "shape.order", "ORDER"),
            .keys = c::enumerator(shape.keys, KeyType::int32, "shape.keys", "KEYS"),
            .stride = shape.key_stride,
            .list_stride = shape.list_stride};
}

std::int64_t key_bytes(KeyType keys) { return keys == KeyType::float32 || keys == KeyType::int32 ? 4 : 2; }

/// Elements of a matrix of so many rows up to the last one, `stride` apart if it is not 0.
std::int64_t extent(const SelectionShape& shape, std::int64_t columns, const char* name, std::int64_t stride) {
    const bool by_rows = shape.layout == MatrixLayout::row_major;
    const std::int64_t lines = by_rows ? shape.rows : columns, line = by_rows ? columns : shape.rows;
    if (stride == 0 || lines == 0) return c::count_of({{"rows", shape.rows}, {name, columns}});
    return c::count_of({{"rows", lines - 1}, {"stride", stride}}) + line;
}

}  // namespace

espalier_status espalier_select_smallest_k(const espalier_device* device, const espalier_selection_shape* shape,
                                           const void* keys, void* values, std::int32_t* indices,
                                           const espalier_options* options) noexcept {
    return call([&] {
        return select_smallest_k_of(c::device_of(device), shape_of(shape), keys, values, indices,
                                    c::options_of(options));
    });
}

espalier_status espalier_plan_select_smallest_k(const espalier_device* device, const espalier_selection_shape* shape,
                                                const espalier_options* options, espalier_plan** plan) noexcept {
    return call([&] {
        c::take_place(plan, "plan");
        return c::give_plan(plan_select_smallest_k(c::device_of(device), shape_of(shape), c::options_of(options),
                                                   c::plan_options_of(options)),
                            plan);
    });
}

espalier_status espalier_select_smallest_k_run(const espalier_plan* plan, const espalier_selection_shape* shape,
                                               const void* keys, void* values, std::int32_t* indices, void* stream,
                                               void* workspace, std::size_t workspace_bytes) noexcept {
    return call([&] {
        const auto& planned = c::plan_of<SelectionPlan>(plan, "espalier_plan_select_smallest_k()");
        const SelectionShape size = shape_of(shape);
        const NamedSize bytes{"bytes of a key", key_bytes(size.keys)};
        const NamedSize all{"columns", extent(size, size.columns, "columns", size.stride)};
        const NamedSize lists{"k", extent(size, size.k, "k", size.list_stride)};
        return planned.run_of(c::span_of(static_cast<const std::byte*>(keys), {all, bytes}),
                              c::span_of(static_cast<std::byte*>(values), {lists, bytes}), c::span_of(indices, {lists}),
                              c::stream_of(stream), c::workspace_of(workspace, workspace_bytes));
    });
}

espalier_status espalier_explain_select_smallest_k(const espalier_device* device, const espalier_selection_shape* shape,
                                                   const espalier_options* options, char** text) noexcept {
    return call([&] {
        c::take_place(text, "text");
        return c::give_text(explain_select_smallest_k(c::device_of(device), shape_of(shape), c::options_of(options)),
                            text);
    });
}
