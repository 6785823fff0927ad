#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/core/thread_errors.hpp"
#include "kernels/core/variant.hpp"
#include "variants/knn/chunk.hpp"
#include "variants/knn/fused/cosine.hpp"
#include "variants/knn/fused/lists.hpp"
#include "variants/knn/fused/panels.hpp"
#include "variants/knn/fused/plan.hpp"
#include "variants/knn/fused/query_block.hpp"
#include "variants/knn/fused/screen.hpp"
#include "variants/knn/fused/streaming.hpp"
#include "variants/knn/fused/terms.hpp"
#include "variants/knn/threads_worth.hpp"
#include "variants/knn/vote.hpp"

/// Distances, selection and vote in one pass on the CPU: no matrix between them. Points are packed once; blocks of
/// queries are dealt to the threads, and of few queries the points are, too. A handful of queries is compared with the
/// points as they lie, since packing would read them as often. How much each form costs: docs/performance/knn-cpu.md.
namespace espalier::knn::fused {

/// Without a neighbour, or with none asked for.
inline void predict_from_nothing(const Problem& problem, const Buffers& buffers) {
    const std::vector<float> distances(static_cast<std::size_t>(problem.k), std::numeric_limits<float>::quiet_NaN());
    const std::vector<std::int32_t> indices(distances.size(), kNoIndex);
    for (std::int64_t q = 0; q < problem.queries; ++q)
        vote(problem, buffers, {distances.data(), indices.data(), 1, 0, problem.k, problem.vote}, q);
}

/// The nearest points that one task found: those of query q are entries [ends[q], ends[q + 1]).
struct Found {
    std::vector<std::uint64_t> entries;
    std::vector<std::size_t> ends{0};
};

/// Finishes all lists and keeps their entries.
template <class L>
Found found_in(L& lists, std::int64_t queries) {
    Found found;
    for (std::int64_t q = 0; q < queries; ++q) {
        lists.finish(static_cast<std::size_t>(q));
        lists.entries(static_cast<std::size_t>(q), found.entries);
        found.ends.push_back(found.entries.size());
    }
    return found;
}

template <class Kernel>
class Pipeline {
public:
    Pipeline(const Context& context, const Problem& problem, const Buffers& buffers)
        : problem_(problem),
          buffers_(buffers),
          threads_(threads_worth(problem.terms(), context.device.threads)),
          plan_(Plan::of<Kernel>(problem, threads_)),
          query_values_(query_values(problem, buffers)),
          bound_(problem.metric, problem.dims, Kernel::roundings(problem.dims), Kernel::smallest(problem.dims)),
          centre_(static_cast<std::size_t>(problem.dims), 0.0F),
          origin_(centre_),
          lengths_(reinterpret_cast<float*>(context.workspace.data())),
          starts_(lengths_ + Plan::length_floats(problem)),
          panels_(starts_ + plan_.start_floats<Kernel>()),
          rows_(panels_ + plan_.panel_floats<Kernel>(problem.dims)) {}

    /// With a screen alone. False if it may not see some item, or tells too little: some predictions are lacking then.
    bool run_screened() {
        if (!plan_.screened) return false;
        if (!is_cosine()) find_centre();
        if (!prepare_points<Terms::products>()) return false;
        run_tasks<Terms::products>();
        return !gives_up_;
    }

    void run() {
        if (problem_.metric == Metric::manhattan) return run_direct<Terms::magnitudes>();
        if (problem_.metric == Metric::chebyshev) return run_direct<Terms::largest>();
        if (plan_.screened) {
            if (!is_cosine()) find_centre();
            if (prepare_points<Terms::products>()) return run_tasks<Terms::products>();
        }
        is_cosine() ? run_direct<Terms::dots>() : run_direct<Terms::squares>();
    }

private:
    using Block = QueryBlock<Kernel>;

    [[nodiscard]] bool is_cosine() const { return problem_.metric == Metric::cosine; }

    void find_centre() {
        for (std::size_t a = 0; a < centre_.size(); ++a)
            centre_[a] =
                rough_mean(buffers_.point_values + static_cast<std::int64_t>(a) * problem_.points, problem_.points);
    }

    template <Terms terms>
    void run_direct() {
        if (plan_.streamed) return stream<terms>();
        prepare_points<terms>();
        run_tasks<terms>();
    }

    /// Room for the neighbours of one query.
    struct Results {
        void resize(std::int64_t k) {
            distances.resize(static_cast<std::size_t>(k));
            indices.resize(distances.size());
        }
        std::vector<float> distances;
        std::vector<std::int32_t> indices;
        std::vector<std::uint64_t> entries;  ///< sorted from here
    };

    void predict(Results& results, std::int64_t query) const {
        auto& entries = results.entries;
        const std::size_t k = std::min(results.indices.size(), entries.size());
        const auto end = entries.begin() + static_cast<std::ptrdiff_t>(k);
        if (k < entries.size()) std::nth_element(entries.begin(), end, entries.end());
        std::sort(entries.begin(), end);
        for (std::size_t j = 0; j < results.indices.size(); ++j) {
            const std::uint64_t entry = j < k ? entries[j] : smallest_k::kEmptyEntry;
            results.distances[j] = smallest_k::value_of(smallest_k::key_of_entry(entry));
            results.indices[j] = smallest_k::index_of_entry(entry);
        }
        vote(problem_, buffers_, {results.distances.data(), results.indices.data(), 1, 0, problem_.k, problem_.vote},
             query);
    }

    /// For queries from `first` on, of which each of the tasks saw other points.
    void predict_all(std::span<const Found> tasks, std::int64_t first, std::int64_t queries) const {
        ThreadErrors errors;
#pragma omp parallel num_threads(threads_) if (queries > threads_)
        {
            Results results;
            errors.guard([&] { results.resize(problem_.k); });
#pragma omp for schedule(static)
            for (std::int64_t q = 0; q < queries; ++q)
                errors.guard([&] {
                    results.entries.clear();
                    const auto i = static_cast<std::size_t>(q);
                    for (const Found& task : tasks)
                        results.entries.insert(results.entries.end(),
                                               task.entries.begin() + static_cast<std::ptrdiff_t>(task.ends[i]),
                                               task.entries.begin() + static_cast<std::ptrdiff_t>(task.ends[i + 1]));
                    predict(results, first + q);
                });
        }
        errors.rethrow();
    }

    template <Terms terms>
    void stream() const {
        const Runs runs = Runs::of(problem_.points, problem_.queries, threads_);
        const std::int64_t parts = std::min<std::int64_t>(runs.count, threads_);
        const Slice all{query_values_, problem_.queries, problem_.dims, 0, problem_.queries};
        const Slice points{buffers_.point_values, problem_.points, problem_.dims, 0, problem_.points};
        std::vector<float> queries(static_cast<std::size_t>(problem_.queries * problem_.dims));
        pack_rows(all, queries.data());
        std::vector<float> lengths(static_cast<std::size_t>(problem_.queries));
        if constexpr (terms == Terms::dots) measure_lengths<Kernel>(all, origin_.data(), lengths.data());
        std::vector<Found> found(static_cast<std::size_t>(parts));
        ThreadErrors errors;
#pragma omp parallel for schedule(static) num_threads(threads_) if (parts > 1)
        for (std::int64_t part = 0; part < parts; ++part)
            errors.guard([&] {
                ExactLists<Kernel> lists(problem_.queries, problem_.k, terms == Terms::squares);
                Streaming<Kernel, terms, decltype(lists)> streaming(
                    points, runs, {queries.data(), lengths.data(), problem_.queries}, lists);
                for (std::int64_t r = runs.count * part / parts; r < runs.count * (part + 1) / parts; ++r)
                    streaming.run(r);
                found[static_cast<std::size_t>(part)] = found_in(lists, problem_.queries);
            });
        errors.rethrow();
        predict_all(found, 0, problem_.queries);
    }

    /// For the values of terms that nothing has screened.
    template <Terms terms>
    [[nodiscard]] auto plain_lists(std::int64_t queries, const float* lengths) const {
        if constexpr (terms == Terms::dots)
            return CosineLists<Kernel>(queries, problem_.k, lengths, lengths_);
        else
            return ExactLists<Kernel>(queries, problem_.k, terms == Terms::squares);
    }

    void measure_points(const Slice& points) const {
        measure_lengths<Kernel>(points, origin_.data(), lengths_ + points.first);
    }

    [[nodiscard]] Slice points_of(std::int64_t panel) const {
        const std::int64_t first = panel * Kernel::kPoints;
        return {buffers_.point_values, problem_.points, problem_.dims, first,
                std::min<std::int64_t>(Kernel::kPoints, problem_.points - first)};
    }

    template <Terms terms>
    [[nodiscard]] const float* centre() const {
        return terms == Terms::products ? centre_.data() : origin_.data();
    }

    [[nodiscard]] float* packed_panel(std::int64_t first) const {
        return panels_ + first * Kernel::depth(problem_.dims);
    }

    /// What the tasks read of the points. False if one is none that a screen may see.
    template <Terms terms>
    bool prepare_points() {
        if (plan_.read_once || (terms != Terms::products && !plan_.packed && !is_cosine())) return true;
        bool all = true;
        constexpr std::int64_t kAlone = 1 << 15;  // values that are packed while a second thread wakes up
#pragma omp parallel for schedule(static) num_threads(threads_) reduction(&& : all) \
    if (problem_.points * problem_.dims > kAlone)
        for (std::int64_t panel = 0; panel < plan_.panels; ++panel) all = prepare_panel<terms>(points_of(panel)) && all;
        return all;
    }

    template <Terms terms>
    bool prepare_panel(Slice slice) const {
        constexpr bool kScreened = terms == Terms::products;
        if (is_cosine()) {
            measure_points(slice);
            if (kScreened) slice.lengths = lengths_ + slice.first;
        }
        Rounded panel{};
        if constexpr (Kernel::kRounds)
            Kernel::round_points(slice, centre_.data(), packed_panel(slice.first), panel);
        else if (plan_.packed)
            Kernel::template pack_points<terms>(slice, centre<terms>(), packed_panel(slice.first));
        if constexpr (!kScreened) return true;
        if (plan_.has_rows) pack_rows(slice, rows_ + slice.first * problem_.dims);
        if constexpr (!Kernel::kRounds)
            if (!is_cosine()) Kernel::squares(slice, centre_.data(), panel.squares.data());
        return prepare_starts(slice, panel);
    }

    [[nodiscard]] float* spreads() const { return starts_ + plan_.start_floats<Kernel>() / 2; }

    /// False if one of the points is none that a screen may see.
    bool prepare_starts(const Slice& slice, Rounded& panel) const {
        if (is_cosine()) panel.squares.fill(1);
        for (std::int64_t j = 0; j < Kernel::kPoints; ++j) {
            const double square = panel.squares[static_cast<std::size_t>(j)];
            if constexpr (Kernel::kRounds) {
                const double error = rounding_error(square, panel.residuals[static_cast<std::size_t>(j)]);
                starts_[slice.first + j] = static_cast<float>((1 - bound_.spread) * square - error);
                spreads()[slice.first + j] = static_cast<float>(2 * bound_.spread * square + 2 * error);
            } else {
                starts_[slice.first + j] = bound_.start(square);
            }
        }
        if (is_cosine()) return std::all_of(slice.lengths, slice.lengths + slice.count, length_may_be_screened);
        return std::ranges::all_of(panel.squares, [](double square) { return square <= kMostScreened; });
    }

    template <Terms terms>
    void run_tasks() {
        const std::int64_t parts = plan_.parts;
        std::vector<Found> found(static_cast<std::size_t>(parts > 1 ? plan_.blocks * parts : 0));
        ThreadErrors errors;
#pragma omp parallel num_threads(threads_)
        {
            Results results;
            errors.guard([&] { results.resize(problem_.k); });
            Kernel::begin();
#pragma omp for schedule(dynamic) nowait
            for (std::int64_t task = 0; task < plan_.blocks * parts; ++task)
                errors.guard([&] {
                    run_task<terms>(results, task / parts, task % parts,
                                    parts > 1 ? &found[static_cast<std::size_t>(task)] : nullptr);
                });
            Kernel::end();
        }
        errors.rethrow();
        if (Kernel::kRounds && gives_up_) return;
        for (std::int64_t b = 0; parts > 1 && b < plan_.blocks; ++b)
            predict_all(std::span(found).subspan(static_cast<std::size_t>(b * parts), static_cast<std::size_t>(parts)),
                        b * plan_.block, queries_of(b).count);
    }

    [[nodiscard]] Slice queries_of(std::int64_t b) const {
        const std::int64_t first = b * plan_.block;
        return {query_values_, problem_.queries, problem_.dims, first, std::min(plan_.block, problem_.queries - first)};
    }

    /// Panels of points.
    struct Part {
        std::int64_t begin, end;
    };

    /// A block of queries and a part of the points: predictions, or what was found if there are other parts.
    template <Terms terms>
    void run_task(Results& results, std::int64_t b, std::int64_t number, Found* found) {
        const Part part{plan_.panels * number / plan_.parts, plan_.panels * (number + 1) / plan_.parts};
        const Block block = packed_block<terms>(b);
        if constexpr (Kernel::kRounds) {
            if (gives_up_ || !block.may_be_screened() || !scan_screened(results, block, part, found)) gives_up_ = true;
        } else if constexpr (terms != Terms::products)
            scan_plain<terms>(results, block, part, !plan_.packed, found);
        else if (gives_up_ || !block.may_be_screened() || !scan_screened(results, block, part, found))
            is_cosine() ? scan_plain<Terms::dots>(results, packed_block<Terms::dots>(b), part, true, found)
                        : scan_plain<Terms::squares>(results, packed_block<Terms::squares>(b), part, true, found);
    }

    /// False if the part has a point that a screen may not see.
    bool scan_screened(Results& results, const Block& block, Part part, Found* found) {
        if (is_cosine()) return scan_screened(results, block, CosineForm{block.lengths(), lengths_}, part, found);
        return scan_screened(results, block, EuclideanForm{}, part, found);
    }

    template <Terms terms>
    [[nodiscard]] Block packed_block(std::int64_t b) const {
        if (is_cosine()) return Block::template with_lengths<terms>(queries_of(b), origin_.data());
        return Block::template of<terms>(queries_of(b), centre<terms>());
    }

    template <Terms terms>
    void scan_plain(Results& results, const Block& block, Part part, bool packs, Found* found) const {
        auto lists = plain_lists<terms>(block.count(), block.lengths());
        scan<terms>(block, lists, part, packs);
        keep(results, block, lists, found);
    }

    template <class Form>
    bool scan_screened(Results& results, const Block& block, Form form, Part part, Found* found) {
        ScreenedLists<Kernel, Form> lists(block.count(), problem_.k, form, bound_, point_rows(), block.rows(),
                                          block.squares().data(), starts_, block.errors(), spreads());
        if (!scan<Terms::products>(block, lists, part, !plan_.packed)) {
            gives_up_ = true;
            return false;
        }
        keep(results, block, lists, found);
        if constexpr (!Kernel::kRounds)
            note(lists.in_vain(), block.count() * (part.end - part.begin) * Kernel::kPoints);
        return true;
    }

    /// A part's panels against all of the block's, packed here or before. False if the part has a point that a screen
    /// may not see.
    template <Terms terms, class L>
    bool scan(const Block& block, L& lists, Part part, bool packs) const {
        typename Kernel::Tile tile;
        const Lines<float> copy(packs ? Kernel::kPoints * Kernel::depth(problem_.dims) : 0);
        for (std::int64_t panel = part.begin; panel < part.end; ++panel) {
            Slice slice = points_of(panel);
            if (plan_.read_once && !prepare_panel<terms>(slice)) return false;
            if (terms == Terms::products && is_cosine()) slice.lengths = lengths_ + slice.first;
            const float* points = packs ? copy.data() : packed_panel(slice.first);
            if constexpr (!Kernel::kRounds)
                if (packs) Kernel::template pack_points<terms>(slice, centre<terms>(), copy.data());
            for (std::int64_t q = 0; q < block.count(); q += Kernel::kQueries) {
                if (!Kernel::template tile<terms>(
                        {block.panel(q), points, starts_ + slice.first, problem_.dims, lists.limits() + q}, tile))
                    continue;
                const std::uint64_t real = ~std::uint64_t{0} >> (64 - slice.count);
                for (std::int64_t i = q; i < std::min<std::int64_t>(q + Kernel::kQueries, block.count()); ++i)
                    offer_all(lists, static_cast<std::size_t>(i), tile.values[i - q], tile.wanted[i - q] & real,
                              slice.first);
            }
            if constexpr (Kernel::kRounds)
                if (tells_too_little(lists, block.count(), slice.first - part.begin * Kernel::kPoints)) return false;
        }
        return true;
    }

    template <class L>
    void keep(Results& results, const Block& block, L& lists, Found* found) const {
        if (found) {
            *found = found_in(lists, block.count());
            return;
        }
        for (std::int64_t i = 0; i < block.count(); ++i) {
            lists.finish(static_cast<std::size_t>(i));
            results.entries.clear();
            lists.entries(static_cast<std::size_t>(i), results.entries);
            predict(results, block.first() + i);
        }
    }

    /// Of rounded items: whether comparing what is left costs half of what the screen saves, after the first points.
    template <class L>
    [[nodiscard]] bool tells_too_little(const L& lists, std::int64_t queries, std::int64_t points) const {
        constexpr std::int64_t kCost = 64, kFirst = 32'768;
        return gives_up_ || lists.in_vain() * kCost > queries * std::max(points, kFirst);
    }

    /// Where many points are within the bound, because they are as far as each other or close together and far from
    /// the rest, the screen leaves too much to the direct form.
    void note(std::int64_t in_vain, std::int64_t compared) {
        constexpr std::int64_t kCost = 32;  // of a distance outside of tiles, in those of tiles
        if (in_vain * kCost > compared) gives_up_ = true;
    }

    [[nodiscard]] PointRows point_rows() const {
        if (plan_.has_rows) return {rows_, problem_.dims, 1, problem_.dims};
        return {buffers_.point_values, 1, problem_.points, problem_.dims};
    }

    const Problem& problem_;
    const Buffers& buffers_;
    int threads_;
    Plan plan_;
    const float* query_values_;
    ScreenBound bound_;
    std::vector<float> centre_, origin_;
    float *lengths_, *starts_, *panels_, *rows_;
    std::atomic<bool> gives_up_ = false;
};

template <class Kernel>
std::size_t workspace(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    const Plan plan = Plan::of<Kernel>(problem, threads_worth(problem.terms(), device.threads));
    return static_cast<std::size_t>(Plan::length_floats(problem) + plan.start_floats<Kernel>() +
                                    plan.panel_floats<Kernel>(problem.dims) + plan.row_floats(problem)) *
           sizeof(float);
}

/// Of a kernel, and of another one that takes its place where it is of no use.
template <class Kernel, class Other>
std::size_t workspace_of_either(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    return std::max(workspace<Kernel>(problem, configuration, device),
                    workspace<Other>(problem, configuration, device));
}

inline Support supports(const Problem& problem) {
    if (problem.metric == Metric::mixed_euclidean) return Support::no("nominal attributes");
    if (problem.missing == Missing::allowed) return Support::no("missing values");
    return pipeline_supports(problem);
}

inline Support supports_products(const Problem& problem) {
    if (const Support support = supports(problem); !support) return support;
    if (problem.metric == Metric::euclidean || problem.metric == Metric::cosine) return Support::yes();
    return Support::no("the metric adds up differences, not products");
}

template <class Kernel>
void check_workspace(const Context& context, const Problem& problem, const Configuration& configuration) {
    const std::size_t needed = workspace<Kernel>(problem, configuration, context.device);
    if (context.workspace.size() < needed)
        throw device::DeviceError(std::to_string(problem.points) + " points need " + std::to_string(needed) +
                                      " bytes of workspace, given are " + std::to_string(context.workspace.size()),
                                  2);
}

inline void copy_to_host(const Problem& problem, const Buffers& buffers) {
    if (problem.queries_in == QueriesIn::host && problem.queries > 0)
        std::memcpy(buffers.on_host.predictions, predictions_of(buffers), prediction_bytes(problem.queries));
}

template <class Kernel>
void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    check_workspace<Kernel>(context, problem, configuration);
    if (compares_nothing(problem))
        predict_from_nothing(problem, buffers);
    else
        Pipeline<Kernel>(context, problem, buffers).run();
    copy_to_host(problem, buffers);
}

/// By the screen of a kernel that rounds items. False if that does not suffice.
template <class Kernel>
bool run_screened(Context& context, const Problem& problem, const Buffers& buffers,
                  const Configuration& configuration) {
    check_workspace<Kernel>(context, problem, configuration);
    if (compares_nothing(problem) || !Pipeline<Kernel>(context, problem, buffers).run_screened()) return false;
    copy_to_host(problem, buffers);
    return true;
}

}  // namespace espalier::knn::fused
