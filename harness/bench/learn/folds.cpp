#include "harness/bench/learn/folds.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

namespace espalier::bench::learn {
namespace {

/// The group of each row: near-duplicates of near-duplicates belong together.
std::vector<std::size_t> group(const Matrix& matrix, std::span<const std::size_t> rows) {
    std::vector<std::size_t> parent(rows.size());
    std::iota(parent.begin(), parent.end(), std::size_t{0});
    const auto root = [&](std::size_t i) {
        while (parent[i] != i) i = parent[i] = parent[parent[i]];
        return i;
    };
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (near_duplicates(matrix.columns, matrix.row(rows[i]), matrix.row(rows[j]))) parent[root(i)] = root(j);
    for (std::size_t i = 0; i < rows.size(); ++i) parent[i] = root(i);
    return parent;
}

/// FNV-1a, then the finaliser of SplitMix64: keys that differ in one digit must land anywhere.
std::uint64_t hash(std::string_view text, std::uint64_t seed) {
    std::uint64_t h = 14695981039346656037ULL ^ seed;
    for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ULL;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBULL;
    return h ^ (h >> 31);
}

}  // namespace

bool near_duplicates(std::span<const Column> columns, std::span<const double> a, std::span<const double> b) {
    constexpr double kNear = 0.05;
    constexpr double kFar = 2;  // what is derived of such sizes differs by so much only if it jumps, as alignments do
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const double x = a[c], y = b[c];
        // A tree takes problems that differ in what is unknown for the same one.
        const Column& column = columns[c];
        if (column.is_interaction() || !column.known || column.inert || x == y) continue;
        if (column.categories > 0 || x <= 0 || y <= 0) return false;
        if (column.derived && std::max(x, y) >= kFar * std::min(x, y)) return false;
        if (!column.derived && std::abs(std::log(x / y)) > std::log1p(kNear)) return false;
    }
    return true;
}

std::vector<Fold> make_folds(const Matrix& matrix, std::span<const std::size_t> rows, std::uint64_t seed) {
    const auto groups = group(matrix, rows);
    std::map<std::size_t, std::string_view> name;  // of each group: its least key
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::string_view key = matrix.problems[rows[i]];
        const auto at = name.emplace(groups[i], key).first;
        at->second = std::min(at->second, key);
    }
    std::vector<std::tuple<std::uint64_t, std::string_view, std::size_t>> shuffled;
    for (const auto& [id, key] : name) shuffled.emplace_back(hash(key, seed), key, id);
    std::sort(shuffled.begin(), shuffled.end());
    if (shuffled.size() < 2) return {};

    std::map<std::size_t, std::size_t> fold_of;
    std::vector<Fold> folds(std::min(kFolds, shuffled.size()));
    for (std::size_t i = 0; i < shuffled.size(); ++i) fold_of[std::get<2>(shuffled[i])] = i % folds.size();
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t f = 0; f < folds.size(); ++f)
            (f == fold_of[groups[i]] ? folds[f].held_out : folds[f].training).push_back(rows[i]);
    return folds;
}

}  // namespace espalier::bench::learn
