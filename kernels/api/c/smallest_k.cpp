#include "espalier/c/neighbours.h"
#include "kernels/api/c/call.hpp"

using namespace espalier;
using c::call;

namespace {

/// The only place that knows the strides.
SelectionShape shape_of(const espalier_selection_shape* given) {
    const auto shape = c::known(given, "shape");
    const MatrixLayout layout = c::matrix_layout(shape.layout, "shape.layout");
    const bool by_rows = layout == MatrixLayout::row_major;
    c::check_stride(shape.key_stride, by_rows ? shape.columns : shape.rows, "shape.key_stride");
    c::check_stride(shape.list_stride, by_rows ? shape.k : shape.rows, "shape.list_stride");
    return {.rows = shape.rows,
            .columns = shape.columns,
            .k = shape.k,
            .layout = layout,
            .order = c::enumerator(shape.order, ListOrder::any, "shape.order", "ORDER"),
            .keys = c::enumerator(shape.keys, KeyType::int32, "shape.keys", "KEYS")};
}

std::int64_t key_bytes(KeyType keys) { return keys == KeyType::float32 || keys == KeyType::int32 ? 4 : 2; }

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
        return c::give_plan(plan_select_smallest_k(c::device_of(device), shape_of(shape), c::options_of(options)),
                            plan);
    });
}

espalier_status espalier_select_smallest_k_run(const espalier_plan* plan, const espalier_selection_shape* shape,
                                               const void* keys, void* values, std::int32_t* indices, void* stream,
                                               void* workspace, std::size_t workspace_bytes) noexcept {
    return call([&] {
        const auto& planned = c::plan_of<SelectionPlan>(plan, "espalier_plan_select_smallest_k()");
        const SelectionShape size = shape_of(shape);
        const NamedSize rows{"rows", size.rows}, k{"k", size.k}, bytes{"bytes of a key", key_bytes(size.keys)};
        return planned.run_of(c::span_of(static_cast<const std::byte*>(keys), {rows, {"columns", size.columns}, bytes}),
                              c::span_of(static_cast<std::byte*>(values), {rows, k, bytes}),
                              c::span_of(indices, {rows, k}), c::stream_of(stream),
                              c::workspace_of(workspace, workspace_bytes));
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
