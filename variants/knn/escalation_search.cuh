#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernels/core/variant.hpp"
#include "variants/knn/escalation_tiles.cuh"
#include "variants/knn/threshold_search.cuh"

/// The launches of `screened_threshold` with cells.
namespace espalier::knn::escalation {
namespace {

using threshold::Exact, threshold::ThresholdLayout, threshold::ThresholdSearch;

/// Queries that are left to their first candidates, or to the direct search, as fast as cells are made for them, if
/// there are no more. On the host executor hardly any, so that cells are tested there.
inline std::int64_t few_queries(const Problem& problem, const DeviceInfo& device) {
    const std::int64_t terms = device.emulated ? 2'000 : 10'000'000'000;
    return terms / std::max<std::int64_t>(problem.points * problem.dims, 1);
}
/// First candidates that take as long. One takes as long as so many points of the direct search.
inline constexpr std::int64_t kPointsOfACandidate = 32;
inline std::int64_t few_candidates(const Problem& problem, const DeviceInfo& device) {
    const std::int64_t terms = device.emulated ? 2'000 : 2'000'000'000;
    return terms / (kPointsOfACandidate * std::max<std::int64_t>(problem.dims, 1));
}

/// Products that take as long as a distance in single precision, and as a point's way to a cell's tiles.
inline std::int32_t measuring_cost(const DeviceInfo& device) { return device.emulated ? 1 : 16; }
inline std::int32_t listing_cost(const DeviceInfo& device) { return device.emulated ? 1 : 1024; }

/// Where things are in the workspace, in bytes from its start: the first screening's behind the counts.
struct EscalationLayout {
    static constexpr std::size_t kScreening = threshold::kTileAlignment;
    static_assert(sizeof(State) <= kScreening);

    ThresholdLayout screening;
    std::int64_t most_cells, query_tiles, point_tiles, sample_tiles;
    std::int64_t usual, room;  ///< candidates of a query that are not too many; of the cells', room
    std::int64_t surely;       ///< so many by its sample, and a query goes on to the cells at once
    std::size_t bytes, cells, limits, candidate_counts, listed_counts, escalated, cell_of, direct, left, samples,
        between_samples, masks, query_tile_cells, point_tile_cells, query_items, point_items, query_tiles_at,
        point_tiles_at, query_norms, query_rows, tops, floors, counts, candidates;

    EscalationLayout(const Problem& problem, const DeviceInfo& device, std::int64_t every)
        : screening(problem, device, every, 2 * kBudget), bytes(kScreening + screening.bytes) {
        // With many more candidates than a sample leaves a query goes on, unless the sample is of hardly more than k
        // and says little: a candidate takes as long as 500 products.
        const std::int64_t most = std::max(screening.expected(problem), problem.points / 512);
        usual = screening.groups < 2 * problem.k ? screening.room : std::min(screening.room, most);
        // So crowded are few places, and hardly one of them without a query among those that may become centres.
        surely = std::min(screening.room, std::max(2 * usual, problem.points / (kSamples / 4)));
        room = std::min(problem.points, std::max<std::int64_t>(2 * usual, device.emulated ? 0 : 1024));
        sample_tiles = std::min(std::max<std::int64_t>(problem.k, 16), screening.groups / threshold::kTileGroups);
        limit_chunks(problem, device.emulated ? 1 : kBudget);
        most_cells = std::clamp<std::int64_t>(cells_worth(problem, device), 1, kMostCells);
        query_tiles = divided_up(screening.chunk(), kCellItems) + most_cells;
        const std::int64_t affordable = kBudget / (screening.slices * static_cast<std::int64_t>(sizeof(PointTile)));
        point_tiles = std::min<std::int64_t>(
            screening.point_tiles + std::min(5 * screening.point_tiles, affordable) + most_cells, (1 << 24) - 1);
        place_all(problem);
    }

private:
    static constexpr std::int64_t kBudget = std::int64_t{1} << 30;

    [[nodiscard]] std::int64_t bytes_of_query(const Problem& problem) const {
        return screening.slices * kTileAttributes * 2 + row_stride(problem.dims) * 4 + sample_tiles * kTileGroups * 4 +
               room * 8;
    }
    /// Tiles of which the last is on average half empty: a cell for as many queries as fill that half, or of few
    /// queries for as many as still save most products, within the budget.
    [[nodiscard]] std::int64_t cells_worth(const Problem& problem, const DeviceInfo& device) const {
        const std::int64_t chunk = screening.chunk();
        if (device.emulated) return chunk / 4;
        const std::int64_t affordable = kBudget / (bytes_of_query(problem) * kCellItems);
        return std::max(chunk / 64, std::min({chunk / 4, std::int64_t{kMostCells / 2}, affordable}));
    }
    /// The second screening's part of the memory is within the budget, too; on the host executor a chunk is one tile.
    void limit_chunks(const Problem& problem, std::int64_t budget) {
        const std::int64_t bytes_of_tile = bytes_of_query(problem) * threshold::kTileQueries;
        const std::int64_t most =
            std::clamp<std::int64_t>(budget / bytes_of_tile, 1, std::max<std::int64_t>(screening.chunk_tiles, 1));
        screening.chunk_tiles =
            divided_up(screening.query_tiles, std::max<std::int64_t>(divided_up(screening.query_tiles, most), 1));
    }
    void place_all(const Problem& problem) {
        const std::int64_t chunk = screening.chunk(), places = query_tiles * kCellItems;
        cells = take(kMostCells * static_cast<std::int64_t>(sizeof(Cell)));
        limits = take(chunk * 4), candidate_counts = take(chunk * 4), listed_counts = take(chunk * 4);
        escalated = take(chunk * 4), cell_of = take(chunk * 4), direct = take(chunk * 4);
        left = take(places * 4);
        samples = take(kSamples * 4), between_samples = take(kSamples * kSamples * 4);
        masks = take(problem.points * (kMostCells / 8));
        query_tile_cells = take(query_tiles * 4), point_tile_cells = take(point_tiles * 4);
        query_items = take(places * 4), point_items = take(point_tiles * kCellItems * 4);
        query_tiles_at = take(query_tiles * screening.slices * static_cast<std::int64_t>(sizeof(CellQueries)));
        point_tiles_at = take(point_tiles * screening.slices * static_cast<std::int64_t>(sizeof(PointTile)));
        query_norms = take(places * 4), query_rows = take(places * row_stride(problem.dims) * 4);
        tops = take(places * sample_tiles * kTileGroups * 4);
        floors = take(places * 4), counts = take(places * 4), candidates = take(places * room * 8);
    }
    std::size_t take(std::int64_t wanted) {
        return std::exchange(bytes, bytes + (static_cast<std::size_t>(wanted) + 1023) / 1024 * 1024);
    }
};

/// One call.
struct EscalationSearch {
    const Context& context;
    const Problem& problem;
    const Buffers& buffers;
    const EscalationLayout& layout;
    std::byte* memory;
    const float* queries;  ///< all of them, on the device

    template <class T>
    [[nodiscard]] T* at(std::size_t place) const {
        return reinterpret_cast<T*>(memory + place);
    }
    template <class T>
    [[nodiscard]] T* of_screening(std::size_t place) const {
        return at<T>(EscalationLayout::kScreening + place);
    }
    [[nodiscard]] State* state() const { return at<State>(0); }
    [[nodiscard]] Findings* findings() const { return of_screening<Findings>(0); }

    [[nodiscard]] ThresholdSearch screening() const {
        return {context, problem, buffers, layout.screening, of_screening<std::byte>(0), queries};
    }

    void prepare_sets() const {
        device::fill(state(), 0, sizeof(State), context.stream);
        screening().prepare_sets();
    }

    /// The lists of `count` queries from `first` on.
    template <Metric metric>
    void search(std::int64_t first, std::int64_t count, const FoundLists& found) const {
        device::fill(&findings()->unlisted, 0, sizeof findings()->unlisted, context.stream);
        device::fill(&state()->by_cell, 0, sizeof(State) - offsetof(State, by_cell), context.stream);
        const Escalation of = escalation(first, count);
        const Exact screened = screen<metric>(of, first, count, found);
        make_cells(of);
        screen_by_cell<metric>(of, first, count, found);
        search_listed<metric>(of, screened);
        screening().search_left<metric>(first, count, found, {at<std::int32_t>(layout.direct), &state()->direct});
    }

private:
    [[nodiscard]] std::int64_t sms() const { return std::max(context.device.sm_count, 1); }

    /// By as many blocks as keep the device busy, whatever there turns out to be to do.
    template <class Kernel, class... Arguments>
    void launch(Kernel kernel, dim3 block, std::int64_t blocks, std::size_t shared,
                const Arguments&... arguments) const {
        device::launch(kernel, dim3(static_cast<unsigned>(blocks)), block, shared, context.stream, arguments...);
    }

    /// As `ThresholdSearch::search`, but that thresholds are kept, and that queries with many candidates are only
    /// listed.
    template <Metric metric>
    Exact screen(const Escalation& escalation, std::int64_t first, std::int64_t count, const FoundLists& found) const {
        const ThresholdSearch screening = this->screening();
        Products products = screening.products_of(first, count);
        const Exact exact = screening.exact_of(products, first, count, found);
        device::fill(products.counts, 0, static_cast<std::size_t>(layout.screening.chunk()) * 4, context.stream);
        screening.multiply<threshold::SampleTops>(products);
        screening.find_thresholds<metric>(products, exact, layout.surely, at<float>(layout.limits));
        look_ahead(escalation, exact.floors);
        products.every = 1;
        screening.multiply<threshold::FloorCandidates>(products);
        launch(postpone, dim3(kThreads), divided_up(count, kThreads), 0, escalation);
        launch(threshold::search_candidates<metric>, dim3(kLanes, kBlockWarps), divided_up(count, kBlockWarps),
               screening.list_bytes(), exact);
        return exact;
    }

    [[nodiscard]] Escalation escalation(std::int64_t first, std::int64_t count) const {
        const ThresholdLayout& of = layout.screening;
        return {state(),
                at<Cell>(layout.cells),
                problem.metric,
                static_cast<std::int32_t>(problem.dims),
                static_cast<std::int32_t>(std::min(few_queries(problem, context.device), of.chunk())),
                static_cast<std::int32_t>(layout.most_cells),
                static_cast<std::int32_t>(first),
                static_cast<std::int32_t>(count),
                measuring_cost(context.device),
                listing_cost(context.device),
                static_cast<std::int32_t>(layout.usual),
                static_cast<std::int32_t>(of.room),
                static_cast<std::int32_t>(problem.points / kPointsOfACandidate),
                few_candidates(problem, context.device),
                of_screening<float>(of.query_rows),
                of_screening<float>(of.point_rows),
                problem.metric == Metric::cosine ? of_screening<float>(of.inverse) : nullptr,
                problem.queries,
                problem.points,
                of_screening<float>(of.query_norms),
                findings(),
                at<float>(layout.limits),
                of_screening<std::int32_t>(of.left),
                of_screening<std::int32_t>(of.counts),
                at<std::int32_t>(layout.candidate_counts),
                at<std::int32_t>(layout.listed_counts),
                at<std::int32_t>(layout.escalated),
                at<std::int32_t>(layout.cell_of),
                at<std::int32_t>(layout.direct),
                at<std::int32_t>(layout.samples),
                at<float>(layout.between_samples),
                at<std::uint32_t>(layout.masks),
                static_cast<std::int32_t>(layout.query_tiles),
                static_cast<std::int32_t>(layout.point_tiles),
                at<std::int32_t>(layout.query_tile_cells),
                at<std::int32_t>(layout.point_tile_cells),
                at<std::int32_t>(layout.query_items),
                at<std::int32_t>(layout.point_items)};
    }

    template <bool of_all>
    void measure_samples(const Escalation& of) const {
        constexpr unsigned kTiles = kSamples / kMeasured;
        launch(draw_samples<of_all>, dim3(kSamples), 1, 0, of);
        device::launch(measure<BetweenSamples<of_all>>, dim3(kTiles, kTiles), dim3(kThreads), 0, context.stream, of);
    }

    /// Whether products with all points are worth their time. They always are for fewer queries than products that
    /// take as long as listing each point once, and where they take a millisecond, looking is a twentieth of that.
    void look_ahead(const Escalation& of, float* floors) const {
        if (of.count < listing_cost(context.device) || of.count < 10 * few_queries(problem, context.device)) return;
        measure_samples<true>(of);
        launch(weigh_cells, dim3(kLanes, kBlockWarps), kSamples / kBlockWarps, 0, of);
        launch(go_on_at_once, dim3(kThreads), divided_up(of.count, kThreads), 0, of, floors);
    }

    void make_cells(const Escalation& of) const {
        const dim3 line(kThreads);
        launch(deal_unserved, line, 2 * sms(), 0, of);
        measure_samples<false>(of);
        launch(keep_centres, dim3(kSamples), 1, 0, of);
        launch(measure<Join>, line, 4 * sms(), 0, of);
        launch(measure<Members>, line, 4 * sms(), 0, of);
        launch(place_cells, dim3(kMostCells), 1, 0, of);
        launch(fill_cells, line, 4 * sms(), 0, of);
    }

    template <Metric metric>
    void screen_by_cell(const Escalation& of, std::int64_t first, std::int64_t count, const FoundLists& found) const {
        const CellTiles tiles{of,
                              static_cast<std::int32_t>(layout.screening.slices),
                              static_cast<float>(1 - kept_back(problem.dims)),
                              at<CellQueries>(layout.query_tiles_at),
                              at<PointTile>(layout.point_tiles_at),
                              at<float>(layout.query_norms),
                              at<float>(layout.query_rows)};
        const auto places = layout.query_tiles * kCellItems;
        const Products products{nullptr,
                                tiles.points,
                                {of.query_items, &state()->query_places, 0},
                                0,
                                0,
                                0,
                                1,
                                tiles.slices,
                                1,
                                static_cast<std::int32_t>(layout.sample_tiles * kTileGroups),
                                at<float>(layout.tops),
                                at<float>(layout.floors),
                                at<std::int32_t>(layout.counts),
                                at<Candidate>(layout.candidates),
                                static_cast<std::int32_t>(layout.room)};
        CellProducts given{products,
                           state(),
                           of.cells,
                           of.query_tile_cells,
                           tiles.queries,
                           tiles.slices,
                           static_cast<std::int32_t>(layout.sample_tiles)};
        Exact exact = screening().exact_of(products, 0, places, found);
        exact.query_rows = tiles.query_rows, exact.query_norms = tiles.query_norms;
        exact.listed = products.listed;
        exact.first_row = first, exact.rows = count;
        exact.floors = at<float>(layout.floors);
        exact.findings = &state()->by_cell, exact.left = at<std::int32_t>(layout.left);
        const dim3 line(kThreads), warps(kLanes, kBlockWarps), block(kLanes, kCellWarps);
        device::fill(products.counts, 0, static_cast<std::size_t>(places) * 4, context.stream);
        launch(write_cell_tiles<false>, warps, 8 * sms(), 0, tiles);
        launch(write_cell_tiles<true>, warps, 8 * sms(), 0, tiles);
        launch(multiply_cells<threshold::SampleTops>, block, 2 * sms(), cell_product_bytes(), given);
        launch(threshold::find_floors<metric, CellSample>, warps, 8 * sms(), screening().list_bytes(), exact,
               CellSample{of, given.most_tiles});
        given.most_tiles = 0;
        launch(multiply_cells<threshold::FloorCandidates>, block, 2 * sms(), cell_product_bytes(), given);
        launch(name_candidates, warps, 8 * sms(), 0, of, products, tiles.query_norms);
        exact.absolute = 0;  // the norms are less for it
        launch(threshold::search_candidates<metric>, warps, places / kBlockWarps, screening().list_bytes(), exact);
        launch(collect_left, line, 2 * sms(), 0, of, at<std::int32_t>(layout.left));
    }

    /// The first screening's candidates, for queries that cells cannot help.
    template <Metric metric>
    void search_listed(const Escalation& of, Exact exact) const {
        exact.listed = {nullptr, &state()->listed, 0};
        exact.counts = of.listed;
        exact.findings = &state()->of_listed;
        exact.left = at<std::int32_t>(layout.left);
        launch(threshold::search_candidates<metric>, dim3(kLanes, kBlockWarps), divided_up(exact.count, kBlockWarps),
               screening().list_bytes(), exact);
    }
};

}  // namespace
}  // namespace espalier::knn::escalation
