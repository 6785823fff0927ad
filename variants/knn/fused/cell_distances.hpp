#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "kernels/core/thread_errors.hpp"
#include "variants/knn/fused/panels.hpp"
#include "variants/knn/fused/query_block.hpp"
#include "variants/knn/fused/terms.hpp"

namespace espalier::knn::fused {

/// Some items, attribute-major.
struct Table {
    std::vector<float> values;
    std::int64_t items, dims;

    [[nodiscard]] Slice slice() const { return {values.data(), items, dims, 0, items}; }
};

inline Table gathered(const Slice& from, std::span<const std::int32_t> items) {
    const auto count = static_cast<std::int64_t>(items.size());
    Table table{std::vector<float>(static_cast<std::size_t>(count * from.dims)), count, from.dims};
    float* to = table.values.data();
    for (std::int64_t a = 0; a < from.dims; ++a)
        for (const std::int32_t item : items) *to++ = from.attribute(a)[item];
    return table;
}

/// Distances of items from centres, by tiles of the direct form. What is no number is infinitely far.
template <class Tiles, Terms terms>
class CentreDistances {
public:
    CentreDistances(const Slice& queries, std::span<const std::int32_t> centres, int threads)
        : table_(gathered(queries, centres)),
          origin_(static_cast<std::size_t>(queries.dims), 0.0F),
          block_(QueryBlock<Tiles>::template of<terms>(table_.slice(), origin_.data())),
          threads_(threads) {}

    /// From a sample of `wanted` items or a few more, runs of them from all over: centre by centre.
    [[nodiscard]] std::vector<float> sampled(const Slice& items, std::int64_t wanted) const {
        const std::int64_t runs = panels_of(wanted);
        return of_runs(items, runs, items.count / runs);
    }

    /// From each other: centre by centre, places up to a whole panel have no meaning.
    [[nodiscard]] std::vector<float> between() const {
        return of_runs(table_.slice(), panels_of(table_.items), Tiles::kPoints);
    }

    struct Nearest {
        float distance = std::numeric_limits<float>::infinity();
        std::int32_t centre = 0;
    };
    /// The nearest centre of each item.
    [[nodiscard]] std::vector<Nearest> nearest(const Slice& items) const {
        std::vector<Nearest> all(static_cast<std::size_t>(items.count));
        for_panels(panels_of(items.count), [&](std::int64_t number, float* panel) {
            const Slice some = items.part(number * Tiles::kPoints, Tiles::kPoints);
            std::array<float, Tiles::kPoints> least;
            std::array<std::int32_t, Tiles::kPoints> at{};
            least.fill(std::numeric_limits<float>::infinity());
            measure(some, panel, no_limits_.data(), [&](std::size_t c, const float* values, std::uint64_t) {
                for (std::size_t j = 0; j < least.size(); ++j) {
                    at[j] = values[j] < least[j] ? static_cast<std::int32_t>(c) : at[j];
                    least[j] = values[j] < least[j] ? values[j] : least[j];
                }
            });
            for (std::size_t j = 0; j < static_cast<std::size_t>(some.count); ++j)
                all[static_cast<std::size_t>(some.first - items.first) + j] = {distance_of(least[j]), at[j]};
        });
        return all;
    }

    /// Items and their distances, ascending by item.
    using List = std::vector<std::pair<float, std::int32_t>>;
    /// Of each centre the items within its limit and hardly any beyond; by each of several parts of the items.
    [[nodiscard]] std::vector<std::vector<List>> within(const Slice& items, std::span<const float> limits) const {
        std::vector<float> values(count() + Tiles::kQueries);
        std::ranges::transform(limits, values.begin(), value_above);
        std::vector<std::vector<List>> parts(static_cast<std::size_t>(threads_), std::vector<List>(count()));
        const std::int64_t panels = panels_of(items.count);
        for_panels(threads_, [&](std::int64_t part, float* panel) {
            std::vector<List>& lists = parts[static_cast<std::size_t>(part)];
            for (std::int64_t p = panels * part / threads_; p < panels * (part + 1) / threads_; ++p) {
                const Slice some = items.part(p * Tiles::kPoints, Tiles::kPoints);
                measure(some, panel, values.data(), [&](std::size_t c, const float* of, std::uint64_t wanted) {
                    for (std::uint64_t left = wanted; left != 0; left &= left - 1) {
                        const int j = std::countr_zero(left);
                        lists[c].emplace_back(distance_of(of[j]), static_cast<std::int32_t>(some.first + j));
                    }
                });
            }
        });
        return parts;
    }

private:
    static float distance_of(float value) {
        const float distance = terms == Terms::squares ? std::sqrt(value) : value;
        return value == value ? distance : std::numeric_limits<float>::infinity();
    }
    /// A value of a tile that every distance up to this one is below.
    static float value_above(float distance) {
        const float value = terms == Terms::squares ? distance * distance : distance;
        return value * (1 + 0x1p-21F) + std::numeric_limits<float>::min();
    }

    [[nodiscard]] std::size_t count() const { return static_cast<std::size_t>(block_.count()); }
    static std::int64_t panels_of(std::int64_t items) { return (items + Tiles::kPoints - 1) / Tiles::kPoints; }

    /// From `runs` panels of items, which begin `apart` items from each other.
    [[nodiscard]] std::vector<float> of_runs(const Slice& items, std::int64_t runs, std::int64_t apart) const {
        std::vector<float> distances(count() * static_cast<std::size_t>(runs * Tiles::kPoints));
        for_panels(runs, [&](std::int64_t run, float* panel) {
            const Slice some = items.part(run * apart, Tiles::kPoints);
            measure(some, panel, no_limits_.data(), [&](std::size_t c, const float* values, std::uint64_t) {
                float* to = distances.data() + (static_cast<std::int64_t>(c) * runs + run) * Tiles::kPoints;
                for (int j = 0; j < Tiles::kPoints; ++j) to[j] = distance_of(values[j]);
            });
        });
        return distances;
    }

    /// Calls `work(number, panel)` for so many, each of which uses the thread's room for a panel.
    template <class Work>
    void for_panels(std::int64_t count, const Work& work) const {
        ThreadErrors errors;
#pragma omp parallel num_threads(threads_) if (count > 1)
        {
            std::vector<Lines<float>> panel;
            errors.guard([&] { panel.emplace_back(Tiles::kPoints * Tiles::depth(table_.dims)); });
#pragma omp for schedule(static)
            for (std::int64_t i = 0; i < count; ++i) errors.guard([&] { work(i, panel.front().data()); });
        }
        errors.rethrow();
    }

    /// Calls `take(centre, values, wanted)` for each centre that one item of a panel or more is within the limit of.
    template <class Take>
    void measure(const Slice& items, float* panel, const float* limits, const Take& take) const {
        typename Tiles::Tile tile;
        Tiles::template pack_points<terms>(items, origin_.data(), panel);
        const std::uint64_t real = ~std::uint64_t{0} >> (64 - items.count);
        for (std::int64_t c = 0; c < block_.count(); c += Tiles::kQueries) {
            if (!Tiles::template tile<terms>({block_.panel(c), panel, nullptr, items.dims, limits + c}, tile)) continue;
            for (std::int64_t i = c; i < std::min<std::int64_t>(c + Tiles::kQueries, block_.count()); ++i)
                take(static_cast<std::size_t>(i), tile.values[i - c], tile.wanted[i - c] & real);
        }
    }

    Table table_;
    std::vector<float> origin_;
    QueryBlock<Tiles> block_;
    int threads_;
    std::vector<float> no_limits_ =
        std::vector<float>(count() + Tiles::kQueries, std::numeric_limits<float>::quiet_NaN());
};

}  // namespace espalier::knn::fused
