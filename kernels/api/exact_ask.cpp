#include "kernels/api/exact_ask.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "kernels/api/arrays.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/api/exact_vote.hpp"
#include "kernels/api/items.hpp"
#include "kernels/api/knn_model.hpp"
#include "kernels/api/progress.hpp"
#include "kernels/core/thread_errors.hpp"
#include "kernels/dispatch/forced_variant.hpp"

namespace espalier::inline v1 {
namespace {

/// Queries at a time, however wide they are: fewer keep no device busy.
std::int64_t fewest_queries(const ExactKnnModel& model) { return model.device.is_cuda() ? 256 : 64; }

std::optional<Error> wrong_results(const ExactKnnModel& model, const ItemsOfDoubles& queries,
                                   const ExactResults& results) {
    const std::int64_t entries = queries.count * model.k;
    if (auto error = invalid_lists(results.layout, results.stride, queries.count, model.k)) return error;
    const std::int64_t rows = results.layout == MatrixLayout::row_major ? queries.count : model.k;
    const std::array specs{
        spec_of("queries.values", queries), output_of<std::int32_t>("classes", results.classes ? queries.count : 0),
        output_of<double>("targets", results.targets ? queries.count : 0),
        in_rows(output_of<double>("distances", results.distances ? entries : 0), rows, results.stride),
        in_rows(output_of<std::int32_t>("indices", results.indices ? entries : 0), rows, results.stride)};
    const Pointers<5> pointers{const_cast<double*>(queries.values), results.classes, results.targets, results.distances,
                               results.indices};
    return wrong_arrays({&state_of(model.device), Memory::host}, specs, pointers, {});
}

void write(const ExactKnnModel& model, const std::vector<exact::Neighbour>& found, std::int64_t query,
           std::int64_t queries, const ExactResults& results) {
    if (results.classes) results.classes[query] = exact::predict(found, model.vote, model.classes);
    if (results.targets) results.targets[query] = exact::predict(found, model.vote, model.targets);
    if (results.all) (*results.all)[static_cast<std::size_t>(query)] = found;
    if (results.radius) return;
    const bool by_query = results.layout == MatrixLayout::row_major;
    const std::int64_t stride = results.stride != 0 ? results.stride : by_query ? model.k : queries;
    for (std::int64_t j = 0; j < model.k && (results.distances || results.indices); ++j) {
        const bool listed = j < static_cast<std::int64_t>(found.size());
        const std::int64_t at = by_query ? query * stride + j : j * stride + query;
        const auto neighbour = static_cast<std::size_t>(j);
        if (results.distances)
            results.distances[at] = listed ? found[neighbour].distance : std::numeric_limits<double>::quiet_NaN();
        if (results.indices) results.indices[at] = listed ? found[neighbour].index : kNoIndex;
    }
}

bool has_missing(const double* item, std::int64_t dims) {
    return std::any_of(item, item + dims, [](double value) { return std::isnan(value); });
}

/// The candidates that a device lists for some queries of a block.
struct ListedQueries {
    std::vector<std::int64_t> queries;  ///< numbers in the block
    std::vector<float> distances;
    std::vector<std::int32_t> indices;
    std::int64_t candidates = 0;
};

/// Some queries, and how exact answers are made of a device's lists.
class Block {
public:
    Block(const ExactKnnModel& model, const ItemsOfDoubles& queries, std::int64_t first, std::int64_t count,
          const ExactResults& results)
        : model_(model),
          results_(results),
          all_(queries.count),
          first_(first),
          queries_(exact::rows_of(queries, model.table.rule(), first, count)),
          open_(static_cast<std::size_t>(count), 1) {}

    Result<void> answer(const Options& options) {
        if (looks_at_bytes(model_, options)) look_at_bytes();
        if (open() > 0 && may_list()) {
            if (auto done = answer_round(0, options); !done) return done;
            scan([](const exact::Search& search) { return search.is_far(); });
            if (model_.rounds.size() > 1 && model_.second_rounds.worth()) {
                const std::int64_t before = open();
                if (auto done = answer_round(1, options); !done) return done;
                model_.second_rounds.add(before, before - open());
            }
        }
        scan([](const exact::Search&) { return true; });
        return {};
    }

private:
    [[nodiscard]] bool allowed() const { return model_.table.missing_rule() == Missing::allowed; }
    [[nodiscard]] bool missing() const {
        return allowed() && (queries_.missing || model_.table.points().missing || queries_.dims == 0);
    }
    [[nodiscard]] std::int64_t open() const { return std::count(open_.begin(), open_.end(), 1); }

    /// Lengths at unit length differ from pair to pair where cells are missing: the device knows no bound then.
    [[nodiscard]] bool may_list() const {
        return !model_.rounds.empty() && !(missing() && model_.table.rule().comparison == exact::Comparison::cosine);
    }

    void look_at_bytes() {
        for_each_open([&](const exact::Search& search, std::int64_t query, std::vector<exact::Neighbour>& found) {
            if (has_missing(queries_.of(query), queries_.dims)) return false;
            search.among_bytes(model_.bytes, found);
            return true;
        });
    }

    /// Looks at all points for such queries that have no answer yet.
    template <class Which>
    void scan(Which which) {
        const std::int64_t before = open();
        for_each_open([&](const exact::Search& search, std::int64_t, std::vector<exact::Neighbour>& found) {
            if (!which(search)) return false;
            search.among_all(found);
            return true;
        });
        exact::scanned_queries.fetch_add(before - open(), std::memory_order_relaxed);
    }

    /// Queries that have no answer yet, so many at a time as the lists of this round take 8 MiB.
    Result<void> answer_round(std::size_t number, const Options& options) {
        constexpr std::int64_t kEntries = std::int64_t{1} << 20;
        const Round& round = model_.rounds[number];
        const std::int64_t at_once = std::max(fewest_queries(model_), kEntries / (round.candidates + queries_.dims));
        std::vector<std::int64_t> waiting;
        for (std::int64_t q = 0; q < queries_.count; ++q)
            if (open_[static_cast<std::size_t>(q)]) waiting.push_back(q);
        for (std::size_t from = 0; from < waiting.size(); from += static_cast<std::size_t>(at_once)) {
            const std::size_t end = std::min(waiting.size(), from + static_cast<std::size_t>(at_once));
            ListedQueries lists{.queries = {waiting.data() + from, waiting.data() + end},
                                .candidates = round.candidates};
            if (auto listed = list(round, lists, options); !listed) {
                // A pipeline that was asked for by name may know fewer candidates: all points are looked at then.
                if (number > 0 && listed.error().code == ErrorCode::unsupported) return {};
                return listed;
            }
            answer_listed(lists);
        }
        return {};
    }

    Result<void> list(const Round& round, ListedQueries& lists, const Options& options) const {
        const auto count = static_cast<std::int64_t>(lists.queries.size());
        lists.distances.resize(static_cast<std::size_t>(count * round.candidates));
        lists.indices.resize(lists.distances.size());
        const bool all = count == queries_.count;
        const exact::Rows some = all ? exact::Rows{} : taken(lists.queries);
        const auto floats = model_.table.floats(all ? queries_ : some);
        return round.finder_for(missing()).kneighbors(
            {floats.data(), count, model_.table.float_dims(), Layout::attribute_major},
            {lists.distances.data(), lists.indices.data(), MatrixLayout::transposed},
            {.stream = options.stream,
             .deterministic = options.deterministic,
             .variant = options.variant,
             .threads = options.threads});
    }

    [[nodiscard]] exact::Rows taken(const std::vector<std::int64_t>& queries) const {
        exact::Rows some{.values = {}, .count = static_cast<std::int64_t>(queries.size()), .dims = queries_.dims};
        for (const std::int64_t query : queries)
            some.values.insert(some.values.end(), queries_.of(query), queries_.of(query) + queries_.dims);
        return some;
    }

    void answer_listed(const ListedQueries& lists) {
        const auto count = static_cast<std::int64_t>(lists.queries.size());
        std::vector<std::int64_t> place(open_.size(), -1);
        for (std::int64_t i = 0; i < count; ++i)
            place[static_cast<std::size_t>(lists.queries[static_cast<std::size_t>(i)])] = i;
        const bool ties_in_order = !model_.device.is_cuda();  // GPUs may expand squares, with roundings of their own
        for_each_open([&](const exact::Search& search, std::int64_t query, std::vector<exact::Neighbour>& found) {
            const std::int64_t at = place[static_cast<std::size_t>(query)];
            if (at < 0) return false;
            return search.among(
                {lists.distances.data() + at, lists.indices.data() + at, lists.candidates, count, ties_in_order},
                found);
        });
    }

    /// For every query without an answer: does something that finds its neighbours or returns false.
    template <class Find>
    void for_each_open(Find find) {
        const exact::Table& table = model_.table;
        const exact::Wanted wanted{model_.k, results_.radius};
        ThreadErrors errors;
#pragma omp parallel
        {
            std::vector<exact::Neighbour> found;
#pragma omp for schedule(dynamic, 16)
            for (std::int64_t q = 0; q < queries_.count; ++q)
                errors.guard([&] {
                    if (!open_[static_cast<std::size_t>(q)]) return;
                    const double* const query = queries_.of(q);
                    const bool missing = allowed() && (table.points().missing || queries_.dims == 0 ||
                                                       has_missing(query, queries_.dims));
                    if (!find(exact::Search(table, query, missing, wanted), q, found)) return;
                    write(model_, found, first_ + q, all_, results_);
                    open_[static_cast<std::size_t>(q)] = 0;
                });
        }
        errors.rethrow();
    }

    const ExactKnnModel& model_;
    const ExactResults& results_;
    std::int64_t all_, first_;
    exact::Rows queries_;
    std::vector<char> open_;  ///< 1 for a query that has no answer yet
};

}  // namespace

ArraySpec spec_of(std::string_view name, const ItemsOfDoubles& items) {
    const bool by_item = items.layout == Layout::item_major;
    return in_rows(input_of<double>(name, items.count * items.dims), by_item ? items.count : items.dims, items.stride);
}

std::optional<Error> not_on_host(const Options& options) {
    if (auto error = invalid_threads(options)) return error;
    if (options.memory == Memory::host) return std::nullopt;
    if (auto error = invalid_memory(options.memory)) return error;
    return invalid("Options::memory is device, but models in double precision read and write host memory");
}

std::optional<Error> invalid_exact_queries(const ExactKnnModel& model, const ItemsOfDoubles& queries) {
    const std::int64_t dims = model.table.rule().given_dims;
    const DistanceRule rule{.missing = model.table.missing_rule()};
    if (auto error = invalid_comparison(shape_of(queries), {nullptr, model.table.count(), dims}, rule)) return error;
    return invalid_sizes({{"queries.count", queries.count}, {"k", std::max(model.k, model.candidates())}});
}

bool looks_at_bytes(const ExactKnnModel& model, const Options& options) {
    if (!model.bytes.any() || !options.variant.empty()) return false;
    const auto& forced = ForcedVariants::of_environment();
    return forced && forced.value().find("knn") == nullptr;
}

std::int64_t queries_at_once(const ExactKnnModel& model, std::int64_t queries) {
    constexpr std::int64_t kEntries = std::int64_t{1} << 20;
    const std::int64_t each = model.candidates() + model.table.points().dims + 1;
    return std::min(queries, std::max(fewest_queries(model), kEntries / each));
}

Result<void> ask_exactly(const ExactKnnModel& model, const ItemsOfDoubles& queries, const ExactResults& results,
                         const Options& options) {
    if (auto error = not_on_host(options)) return *error;
    if (auto error = invalid_exact_queries(model, queries)) return *error;
    if (auto error = wrong_results(model, queries, results)) return *error;
    if (auto refused = exact::invalid_places(model.table.rule(), queries, "queries"))
        return invalid(std::move(*refused));
    if (model.rounds.empty() && !options.variant.empty())
        return Error{ErrorCode::unsupported,
                     "the option variant names '" + std::string(options.variant) +
                         "', but this metric, or so many neighbours, no pipeline knows: the host looks at all points"};
    const HostThreads threads(state_of(model.device), options);
    const Progress progress(options);
    std::int64_t at_once = queries_at_once(model, queries.count);
    if (progress.is_wanted())
        at_once = std::min(at_once, items_in_part(model.table.count() * queries.dims, model.device.is_cuda()));
    progress.at_start();
    for (std::int64_t first = 0; first < queries.count; first += at_once) {
        const std::int64_t count = std::min(at_once, queries.count - first);
        Block block(model, queries, first, count, results);
        if (auto answered = block.answer(options); !answered) return answered.error();
        progress.after(first + count, queries.count);
    }
    progress.at_end();
    return {};
}

}  // namespace espalier::inline v1
