#include <array>
#include <cstddef>
#include <memory>
#include <tuple>
#include <utility>

#include "tests/kernels/api/allocation_support.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier {
namespace {

void add_devices(Calls& calls) {
    calls.add("description", [] {
        return [] {
            // A handle's texts are made once; this is the first only in a process of its own.
            return Outcome{.hash = hash_of(Device::cpu().description()) ^ hash_of(cpu().key()) ^ hash_of(cpu().name())};
        };
    });
    calls.add("best_device", [] { return [] { return Outcome{.hash = hash_of(Device::best().key())}; }; });
    calls.add(
        "no_gpu", [] { return [] { return made(Device::cuda(1000)); }; }, false);
}

void add_dot(Calls& calls) {
    constexpr std::int64_t kLong = 1 << 18;
    for (const std::int64_t n : {std::int64_t{8}, kLong})
        calls.add_each("dot_product_" + std::to_string(n), {"", "cpu_scalar", "cpu_openmp", "cpu_avx2"},
                       [n](const Options& options) {
                           return
                               [n, options, a = numbers<float>(n), b = numbers<float>(n, 2), to = results<float>(1)] {
                                   return written(dot_product(cpu(), a.data(), b.data(), n, to->data(), options), *to);
                               };
                       });
    calls.add("plan_dot_product", [] {
        return planned([] { return plan_dot_product(cpu(), 100); },
                       [a = numbers<float>(100), to = results<float>(1)](const DotProductPlan& plan, auto room) {
                           return written(plan.run(a, a, to->data(), nullptr, room), *to);
                       });
    });
    calls.add("explain_dot_product", [] { return [] { return made(explain_dot_product(cpu(), 1000)); }; });
    calls.add(
        "dot_product_refused",
        [] {
            return
                [to = results<float>(1)] { return written(dot_product(cpu(), nullptr, nullptr, 8, to->data()), *to); };
        },
        false);
    calls.add(
        "dot_product_unknown_option",
        [] { return [] { return made(explain_dot_product(cpu(), 8, {.memory = static_cast<Memory>(77)})); }; }, false);
}

void add_bytes_and_images(Calls& calls) {
    calls.add_each("count_bytes", {"", "cpu_scalar", "cpu_openmp", "cpu_replicas"}, [](const Options& options) {
        return [options, bytes = numbers<std::uint8_t>(100'000), to = results<std::uint64_t>(256)] {
            return written(count_bytes(cpu(), bytes.data(), std::ssize(bytes), to->data(), options), *to);
        };
    });
    calls.add("plan_count_bytes", [] {
        return planned([] { return plan_count_bytes(cpu(), 1000); },
                       [bytes = numbers<std::uint8_t>(1000), to = results<std::uint64_t>(256)](
                           const HistogramPlan& plan, auto room) {
                           return written(plan.run(bytes, to->data(), nullptr, room), *to);
                       });
    });
    calls.add("explain_count_bytes", [] { return [] { return made(explain_count_bytes(cpu(), 1000)); }; });

    static constexpr ImageShape kShape{60, 50, 3};
    Filter5x5 filter;
    filter.fill(0.04F);
    calls.add_each("convolve_2d",
                   {"", "cpu_scalar", "cpu_openmp_rows", "cpu_openmp_columns", "cpu_avx2_float",
                    "cpu_avx2_float_preconverted", "cpu_avx512_float"},
                   [filter](const Options& options) {
                       return [filter, options, image = numbers<std::uint8_t>(60 * 50 * 3),
                               to = results<std::uint8_t>(60 * 50 * 3)] {
                           return written(convolve_2d(cpu(), {image.data(), kShape}, filter, Border::mirror,
                                                      {to->data(), kShape}, options),
                                          *to);
                       };
                   });
    Filter7x7 large;
    large.fill(0.02F);
    calls.add("convolve_2d_7x7", [large] {
        return [large, image = numbers<std::uint8_t>(60 * 50 * 3), to = results<std::uint8_t>(60 * 50 * 3)] {
            const Result<Explanation> why = explain_convolve_2d(cpu(), kShape, large, Border::zero);
            if (!why) return made(why);
            return written(convolve_2d(cpu(), {image.data(), kShape}, large, Border::zero, {to->data(), kShape}), *to);
        };
    });
    calls.add("plan_convolve_2d_7x7", [large] {
        return planned([large] { return plan_convolve_2d(cpu(), kShape, large, Border::zero); },
                       [image = numbers<std::uint8_t>(60 * 50 * 3), to = results<std::uint8_t>(60 * 50 * 3)](
                           const ConvolutionPlan& plan, auto room) {
                           return written(plan.run({image.data(), kShape}, {to->data(), kShape}, nullptr, room), *to);
                       });
    });
    calls.add("plan_convolve_2d", [filter] {
        return planned([filter] { return plan_convolve_2d(cpu(), kShape, filter, Border::zero); },
                       [image = numbers<std::uint8_t>(60 * 50 * 3), to = results<std::uint8_t>(60 * 50 * 3)](
                           const ConvolutionPlan& plan, auto room) {
                           return written(plan.run({image.data(), kShape}, {to->data(), kShape}, nullptr, room), *to);
                       });
    });
    calls.add("explain_convolve_2d",
              [filter] { return [filter] { return made(explain_convolve_2d(cpu(), kShape, filter, Border::zero)); }; });
}

void add_distances(Calls& calls) {
    calls.add_each(
        "pairwise_distances", {"", "cpu_scalar", "cpu_openmp", "cpu_avx2", "cpu_avx512"}, [](const Options& options) {
            return [options, x = numbers<float>(70 * 3), y = numbers<float>(40 * 3, 5), to = results<float>(70 * 40)] {
                constexpr std::array kTypes{AttributeType::numeric, AttributeType::nominal, AttributeType::numeric};
                return written(pairwise_distances(cpu(), {x.data(), 70, 3}, {y.data(), 40, 3},
                                                  {Metric::mixed_euclidean, Missing::allowed, kTypes},
                                                  {to->data(), MatrixLayout::transposed}, options),
                               *to);
            };
        });
    calls.add("plan_pairwise_distances", [] {
        return planned(
            [] {
                return plan_pairwise_distances(cpu(), {nullptr, 70, 3}, {nullptr, 40, 3}, {Metric::manhattan});
            },
            [x = numbers<float>(70 * 3), y = numbers<float>(40 * 3, 5), to = results<float>(70 * 40)](
                const DistancesPlan& plan, auto room) {
                return written(plan.run({x.data(), 70, 3}, {y.data(), 40, 3}, to->data(), nullptr, room), *to);
            });
    });
    calls.add("explain_pairwise_distances", [] {
        return [] { return made(explain_pairwise_distances(cpu(), {nullptr, 70, 3}, {nullptr, 40, 3}, {})); };
    });
}

const Names kSelections{"",
                        "cpu_scalar",
                        "cpu_openmp",
                        "cpu_avx2",
                        "cpu_avx512",
                        "cpu_minima_avx2",
                        "cpu_minima_avx512",
                        "cpu_insertion_avx2",
                        "cpu_insertion_avx512"};

void add_selections(Calls& calls) {
    const auto add = [&](const std::string& name, const SelectionShape& shape) {
        calls.add_each(name, kSelections, [shape](const Options& options) {
            return [shape, options, from = numbers<float>(shape.rows * shape.columns),
                    values = results<float>(shape.rows * shape.k),
                    indices = results<std::int32_t>(shape.rows * shape.k)] {
                return written(select_smallest_k(cpu(), shape, from.data(), values->data(), indices->data(), options),
                               *values, *indices);
            };
        });
    };
    add("select_transposed", {.rows = 64, .columns = 1024, .k = 5, .layout = MatrixLayout::transposed});
    add("select_rows", {.rows = 64, .columns = 1024, .k = 5, .layout = MatrixLayout::row_major});
    add("select_one_row", {.rows = 1, .columns = 1 << 17, .k = 40, .layout = MatrixLayout::row_major});
    static constexpr SelectionShape kHalves{.rows = 30, .columns = 100, .k = 5, .keys = KeyType::float16};
    calls.add("select_smallest_k_of", [] {
        return [from = numbers<std::uint16_t>(3000), values = results<std::uint16_t>(150),
                indices = results<std::int32_t>(150)] {
            return written(select_smallest_k_of(cpu(), kHalves, from.data(), values->data(), indices->data()), *values,
                           *indices);
        };
    });
    calls.add("plan_select_smallest_k", [] {
        return planned([] { return plan_select_smallest_k(cpu(), kHalves); },
                       [from = numbers<std::uint16_t>(3000), values = results<std::uint16_t>(150),
                        indices = results<std::int32_t>(150)](const SelectionPlan& plan, auto room) {
                           return written(
                               plan.run_of(std::as_bytes(std::span(from)), std::as_writable_bytes(std::span(*values)),
                                           *indices, nullptr, room),
                               *values, *indices);
                       });
    });
    calls.add("explain_select_smallest_k",
              [] { return [] { return made(explain_select_smallest_k(cpu(), {.rows = 9, .columns = 9})); }; });
}

void add_seismic(Calls& calls) {
    static constexpr CoherentSumShape kShape{.receivers = 5, .samples = 300, .sources = 40, .span = 16};
    const Names kVariants{"", "cpu_scalar", "cpu_openmp", "cpu_avx2", "cpu_avx512"};
    calls.add_each("sum_coherently", kVariants, [](const Options& options) {
        return [options, traces = numbers<float>(5 * 316), delays = numbers<std::int32_t>(200),
                sums = results<float>(40 * 300)] {
            return written(sum_coherently(cpu(), kShape, traces.data(), delays.data(), sums->data(), options), *sums);
        };
    });
    calls.add_each("maximum_coherence", kVariants, [](const Options& options) {
        return [options, traces = numbers<float>(5 * 316), delays = numbers<std::int32_t>(200),
                maximum = results<float>(40), sample = results<std::int32_t>(40)] {
            return written(maximum_coherence(cpu(), kShape, traces.data(), delays.data(), maximum->data(),
                                             sample->data(), options),
                           *maximum, *sample);
        };
    });
    calls.add("plan_coherent_sum", [] {
        return planned([] { return plan_coherent_sum(cpu(), kShape, Coherence::sums); },
                       [traces = numbers<float>(5 * 316), delays = numbers<std::int32_t>(200),
                        sums = results<float>(40 * 300)](const CoherentSumPlan& plan, auto room) {
                           return written(plan.run(traces, delays, *sums, nullptr, room), *sums);
                       });
    });
    calls.add("explain_coherent_sum",
              [] { return [] { return made(explain_coherent_sum(cpu(), kShape, Coherence::maximum)); }; });

    static constexpr SourceGrid kGrid{.columns = 10, .rows = 10, .layers = 10};
    calls.add_each("compute_delays", {"", "cpu_scalar", "cpu_openmp"}, [](const Options& options) {
        return [options, receivers = std::vector<Point>(7, Point{1, 2, 3}), delays = results<std::int32_t>(7000)] {
            return written(compute_delays(cpu(), receivers, kGrid, {}, delays->data(), options), *delays);
        };
    });
    calls.add("explain_compute_delays",
              [] { return [] { return made(explain_compute_delays(cpu(), 7, kGrid, {})); }; });

    static constexpr InterpolationShape kCopies{.receivers = 20, .samples = 100, .padding = 3, .phases = 4};
    calls.add_each("interpolate_traces", {"", "cpu_scalar", "cpu_openmp"}, [](const Options& options) {
        return [options, traces = numbers<float>(2000), copies = results<float>(20 * 4 * 103)] {
            return written(interpolate_traces(cpu(), kCopies, traces.data(), copies->data(), options), *copies);
        };
    });
    calls.add("plan_interpolate_traces", [] {
        return planned([] { return plan_interpolate_traces(cpu(), kCopies); },
                       [traces = numbers<float>(2000), copies = results<float>(20 * 4 * 103)](
                           const InterpolationPlan& plan, auto room) {
                           return written(plan.run(traces, *copies, nullptr, room), *copies);
                       });
    });
    calls.add("explain_interpolate_traces",
              [] { return [] { return made(explain_interpolate_traces(cpu(), kCopies)); }; });
}

void add_texts(Calls& calls) {
    calls.add("explain", [] {
        return [] { return made(explain(cpu(), "convolution_2d", "width=640;height=480;border=mirror")); };
    });
    for (const auto& [name, family, problem] : {std::tuple{"family", "convolution", "width=640"},
                                                {"axis", "dot", "element=5"},
                                                {"twice", "dot", "elements=5;elements=6"}})
        calls.add(
            std::string("explain_unknown_") + name,
            [family = family, problem = problem] {
                return [family, problem] { return made(explain(cpu(), family, problem)); };
            },
            false);
    calls.add(
        "variant_unknown",
        [] { return [] { return made(explain_dot_product(cpu(), 8, {.variant = "cpu_avx:parallel=0"})); }; }, false);
    calls.add("explanation_text", [] {
        return [why = explain_dot_product(cpu(), 1000).value()] {
            const std::string text = why.text();
            if (text == "out of memory") return Outcome{.error = ErrorCode::out_of_memory, .told = true};
            return Outcome{.hash = hash_of(text)};
        };
    });
}

/// The first load of a tree is a test of its own: what is loaded stays.
void add_selectors(Calls& calls) {
    const auto damaged = [] {
        auto folder = std::make_shared<TemporaryFolder>();
        static_cast<void>(folder->file("dot.tree", "{\"schema\": \"espalier.tree/1\"}"));
        return folder;
    };
    calls.add("load_selectors_again", [] { return [] { return made(load_selectors(ESPALIER_TREE)); }; });
    calls.add(
        "load_selectors_damaged",
        [damaged] { return [folder = damaged()] { return made(load_selectors(folder->path().native())); }; }, false);
    calls.add(
        "load_selectors_nowhere",
        [damaged] { return [path = damaged()->path().native()] { return made(load_selectors(path)); }; }, false);
    calls.add("loaded_selectors", [] { return [] { return made(loaded_selectors()); }; });
}

void add_wisdom(Calls& calls) {
    calls.add("save_and_load_wisdom", [] {
        auto folder = std::make_shared<TemporaryFolder>();
        return [folder, path = *folder / "w.txt"] {
            const auto saved = save_wisdom(path);
            return saved ? outcome_of(load_wisdom(path)) : outcome_of(saved);
        };
    });
    calls.add(
        "load_wisdom_nowhere", [] { return [] { return made(load_wisdom("nowhere/w.txt")); }; }, false);
}

}  // namespace

std::vector<NamedCall> public_calls() {
    Calls calls;
    add_devices(calls);
    add_dot(calls);
    add_bytes_and_images(calls);
    add_distances(calls);
    add_selections(calls);
    add_seismic(calls);
    add_neighbours(calls);
    add_exact_neighbours(calls);
    add_texts(calls);
    add_selectors(calls);
    add_wisdom(calls);
    return calls.all;
}

}  // namespace espalier
