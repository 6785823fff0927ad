#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "harness/apps/io/number.hpp"

namespace espalier::bench::io {

/// Numbers in rows and columns, row after row, as tables are read and as the library takes points.
class Cells {
public:
    Cells() = default;
    explicit Cells(std::size_t columns) : columns_(columns) {}
    /// Columns of equally many numbers.
    explicit Cells(const std::vector<std::vector<Number>>& columns) : columns_(columns.size()) {
        if (!columns.empty()) values_.resize(columns[0].size() * columns_);
        for (std::size_t c = 0; c < columns_; ++c) set_column(c, columns[c]);
    }

    [[nodiscard]] std::size_t rows() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] std::span<const Number> all() const { return values_; }
    [[nodiscard]] Number at(std::size_t row, std::size_t column) const { return values_[row * columns_ + column]; }
    [[nodiscard]] std::span<Number> row(std::size_t row) { return {values_.data() + row * columns_, columns_}; }
    [[nodiscard]] std::span<const Number> row(std::size_t row) const {
        return {values_.data() + row * columns_, columns_};
    }

    /// Copies of a column.
    [[nodiscard]] std::vector<Number> column(std::size_t column) const {
        std::vector<Number> values(rows());
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = at(i, column);
        return values;
    }
    void set_column(std::size_t column, std::span<const Number> values) {
        for (std::size_t i = 0; i < values.size(); ++i) values_[i * columns_ + column] = values[i];
    }

    /// Calls `action(column, values)` for every column, some of which are copied at a time: one by one, each number of
    /// a wide table would come from memory alone.
    template <class Action>
    void for_each_column(Action action) const {
        const std::size_t rows = this->rows(), at_once = columns_at_once();
        std::vector<Number> some(rows * std::min(at_once, columns_));
        for (std::size_t first = 0; first < columns_; first += at_once) {
            const std::size_t count = std::min(at_once, columns_ - first);
            for (std::size_t i = 0; i < rows; ++i)
                for (std::size_t c = 0; c < count; ++c) some[c * rows + i] = at(i, first + c);
            for (std::size_t c = 0; c < count; ++c)
                action(first + c, std::span<const Number>(some.data() + c * rows, rows));
        }
    }

    void reserve(std::size_t numbers) { values_.reserve(numbers); }
    [[nodiscard]] bool is_full() const { return values_.size() + columns_ > values_.capacity(); }

    /// A row of zeros at the end, to be filled in.
    std::span<Number> add_row() {
        values_.resize(values_.size() + columns_);
        return {values_.data() + values_.size() - columns_, columns_};
    }
    void add_row(std::span<const Number> row) { values_.insert(values_.end(), row.begin(), row.end()); }
    void add_first_row(std::span<const Number> row) { values_.insert(values_.begin(), row.begin(), row.end()); }

    /// Keeps these rows alone, whose numbers ascend.
    void keep(const std::vector<std::size_t>& rows) {
        for (std::size_t i = 0; i < rows.size(); ++i)
            if (rows[i] != i) std::ranges::copy(row(rows[i]), row(i).begin());
        values_.resize(rows.size() * columns_);
        values_.shrink_to_fit();
    }
    void clear() { values_.clear(); }

    /// All numbers; none stay.
    [[nodiscard]] std::vector<Number> release() { return std::exchange(values_, {}); }

    bool operator==(const Cells&) const = default;

private:
    /// So many as stand in two cache lines, and fewer of long columns.
    [[nodiscard]] std::size_t columns_at_once() const {
        constexpr std::size_t kMost = 16, kNumbers = 1 << 17;
        return std::clamp<std::size_t>(kNumbers / std::max<std::size_t>(rows(), 1), 1, kMost);
    }

    std::size_t columns_ = 0;
    std::vector<Number> values_;
};

}  // namespace espalier::bench::io
