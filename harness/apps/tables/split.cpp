#include "harness/apps/tables/split.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace espalier::bench::io {
namespace {

class SplitMix64 {
public:
    explicit SplitMix64(std::uint64_t seed) : state_(seed) {}

    std::uint64_t operator()() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }

private:
    std::uint64_t state_;
};

template <class T>
std::vector<T> taken(const std::vector<T>& values, const std::vector<std::size_t>& numbers) {
    std::vector<T> some;
    if (values.empty()) return some;
    some.reserve(numbers.size());
    for (const std::size_t number : numbers) some.push_back(values[number]);
    return some;
}

}  // namespace

Split random_split(std::size_t rows, double fraction, std::uint64_t seed) {
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    SplitMix64 next(seed);
    for (std::size_t i = rows - 1; i > 0; --i) std::swap(order[i], order[next() % (i + 1)]);
    const auto wanted = static_cast<std::size_t>(std::floor(fraction * static_cast<double>(rows) + 0.5));
    const auto cut = order.begin() + static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(wanted, 1, rows - 1));
    std::sort(order.begin(), cut);
    std::sort(cut, order.end());
    return {{cut, order.end()}, {order.begin(), cut}};
}

Split tail_split(std::size_t rows, std::size_t test_rows) {
    Split split;
    for (std::size_t i = 0; i < rows; ++i) (i < rows - test_rows ? split.train : split.test).push_back(i);
    return split;
}

std::pair<Rows, Rows> divide(Rows rows, const Split& split) {
    Rows test = take(rows, split.test);
    rows.attributes.keep(split.train);
    rows.classes = taken(rows.classes, split.train);
    rows.targets = taken(rows.targets, split.train);
    return {std::move(rows), std::move(test)};
}

Rows take(const Rows& rows, const std::vector<std::size_t>& numbers) {
    Rows some{.attributes = Cells(rows.attributes.columns()), .classes = {}, .targets = {}};
    some.attributes.reserve(numbers.size() * rows.attributes.columns());
    for (const std::size_t number : numbers) some.attributes.add_row(rows.attributes.row(number));
    some.classes = taken(rows.classes, numbers);
    some.targets = taken(rows.targets, numbers);
    return some;
}

}  // namespace espalier::bench::io
