#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "variants/knn/fused/cosine.hpp"
#include "variants/knn/fused/panels.hpp"
#include "variants/knn/fused/screen.hpp"
#include "variants/knn/fused/terms.hpp"

namespace espalier::knn::fused {

/// A block of queries, packed.
template <class Kernel>
class QueryBlock {
public:
    template <Terms terms>
    static QueryBlock of(const Slice& slice, const float* centre) {
        QueryBlock block(slice);
        if constexpr (Kernel::kRounds)
            block.round(slice, centre);
        else
            for (std::int64_t q = 0; q < block.count_; q += Kernel::kPoints)
                Kernel::squares(slice.part(q, Kernel::kPoints), centre, block.squares_.data() + q);
        block.may_be_screened_ = std::ranges::all_of(block.squares_, [](double s) { return s <= kMostScreened; });
        if constexpr (!Kernel::kRounds) block.pack<terms>(slice, centre);
        return block;
    }

    /// With lengths; at unit length if it is to be screened.
    template <Terms terms>
    static QueryBlock with_lengths(Slice slice, const float* origin) {
        QueryBlock block(slice);
        block.lengths_.resize(block.squares_.size());
        measure_lengths<Kernel>(slice, origin, block.lengths_.data());
        std::ranges::fill(block.squares_, 1.0);
        block.may_be_screened_ = std::ranges::all_of(block.lengths_, length_may_be_screened);
        if (terms == Terms::products) slice.lengths = block.lengths_.data();
        if constexpr (Kernel::kRounds)
            block.round(slice, origin);
        else
            block.pack<terms>(slice, origin);
        return block;
    }

    [[nodiscard]] std::int64_t first() const { return first_; }
    [[nodiscard]] std::int64_t count() const { return count_; }
    [[nodiscard]] const float* panel(std::int64_t q) const { return panels_.data() + q * Kernel::depth(dims_); }
    [[nodiscard]] const float* rows() const { return rows_.get(); }
    [[nodiscard]] const std::vector<double>& squares() const { return squares_; }
    [[nodiscard]] const double* errors() const { return errors_.data(); }
    [[nodiscard]] const float* lengths() const { return lengths_.data(); }
    [[nodiscard]] bool may_be_screened() const { return may_be_screened_; }

private:
    explicit QueryBlock(const Slice& slice)
        : first_(slice.first),
          count_(slice.count),
          dims_(slice.dims),
          panels_(rounded_up(count_, Kernel::kQueries) * Kernel::depth(dims_)),
          rows_(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count_ * dims_))),
          squares_(static_cast<std::size_t>(count_)) {}

    template <Terms terms>
    void pack(const Slice& slice, const float* centre) {
        constexpr float kScale = terms == Terms::products ? -2.0F : 1.0F;
        for (std::int64_t q = 0; q < count_; q += Kernel::kQueries)
            Kernel::template pack_queries<terms>(slice.part(q, Kernel::kQueries), centre, kScale,
                                                 panels_.data() + q * Kernel::depth(dims_));
        pack_rows(slice, rows_.get());
    }

    /// Squares of items at unit length are 1 already.
    void round(const Slice& slice, const float* centre) {
        errors_.resize(squares_.size());
        Rounded rounded;
        for (std::int64_t q = 0; q < count_; q += Kernel::kQueries) {
            const Slice some = slice.part(q, Kernel::kQueries);
            Kernel::round_queries(some, centre, panels_.data() + q * Kernel::depth(dims_), rounded);
            for (std::int64_t i = 0; i < some.count; ++i) {
                const auto from = static_cast<std::size_t>(i), to = static_cast<std::size_t>(q + i);
                if (!slice.lengths) squares_[to] = rounded.squares[from];
                errors_[to] = rounding_error(squares_[to], rounded.residuals[from]);
            }
        }
        pack_rows(slice, rows_.get());
    }

    std::int64_t first_, count_, dims_;
    Lines<float> panels_;
    std::unique_ptr<float[]> rows_;
    std::vector<double> squares_;
    std::vector<double> errors_;  ///< of rounded items
    std::vector<float> lengths_;
    bool may_be_screened_ = false;
};

}  // namespace espalier::knn::fused
