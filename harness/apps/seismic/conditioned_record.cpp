#include "harness/apps/seismic/conditioned_record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::seismic {
namespace {

constexpr std::int64_t kMostFiltered = std::int64_t{1} << 30;  // values in memory: 4 GiB
constexpr std::int64_t kLeastBlock = 8192;                     // samples
constexpr std::int64_t kFittedValues = std::int64_t{1} << 22;  // in memory at a time

/// A straight line through a trace: mean + slope * (sample - centre).
struct TraceLine {
    double mean = 0, slope = 0, centre = 0;

    [[nodiscard]] double at(std::int64_t sample) const { return mean + slope * (static_cast<double>(sample) - centre); }
};

/// What a least-squares line needs to know of a trace; samples count from the record's middle.
struct LineSums {
    double count = 0, place = 0, place_squared = 0, value = 0, value_place = 0;

    /// Counts samples [from, until), places from the record's middle.
    void count_places(double from, double until) {
        const double n = until - from, middle = (from + until - 1) / 2;
        count += n;
        place += n * middle;
        place_squared += n * middle * middle + n * (n * n - 1) / 12;
    }

    [[nodiscard]] TraceLine line(double middle, bool with_slope) const {
        if (count == 0) return {};
        const double mean_place = place / count, spread = place_squared - place * mean_place;
        const double slope = with_slope && spread > 0 ? (value_place - value * mean_place) / spread : 0;
        return {value / count, slope, middle + mean_place};
    }
};

class ConditionedRecord final : public Record {
public:
    ConditionedRecord(std::unique_ptr<Record> inner, const Conditioning& what)
        : Record(*inner), inner_(std::move(inner)), what_(what), lines_(static_cast<std::size_t>(receivers_)) {
        if (what.bandpass) prepare_filter();
    }

protected:
    void read_within(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) override {
        if (!fitted_) fit_lines();
        if (!filter_) {
            inner_->read(first, count, to, stride);
            take_lines_off(first, count, to, stride);
        } else {
            for (std::int64_t at = first; at < first + count;) {
                load(at / block_);
                const std::int64_t until = std::min(first + count, (at / block_ + 1) * block_);
                for (std::int64_t r = 0; r < receivers_; ++r)
                    std::copy_n(filtered_.data() + r * block_ + at % block_, until - at,
                                to + r * stride + (at - first));
                at = until;
            }
        }
        if (what_.absolute)
            for (std::int64_t r = 0; r < receivers_; ++r)
                std::transform(to + r * stride, to + r * stride + count, to + r * stride,
                               [](float x) { return std::abs(x); });
        clear_gaps(first, count, to, stride);
    }

    std::string file_of(std::int64_t receiver, std::int64_t sample) const override {
        return file_in(*inner_, receiver, sample);
    }

    bool look_again() override {
        const bool grown = inner_->grow();
        take_growth(*inner_);
        return grown;
    }

private:
    void prepare_filter() {
        const auto [low, high] = *what_.bandpass;
        filter_.emplace(low, high, rate_);
        const std::int64_t memory = filter_->memory(), most = kMostFiltered / receivers_;
        if (memory > most / 6)
            throw io::BadFile(
                "--bandpass",
                fmt::format("a band from {} to {} Hz needs {} samples at {} Hz before and after each one, "
                            "and memory for at most {} of each trace is taken; raise its lower corner, or "
                            "widen it",
                            low, high, memory, rate_, most / 6));
        block_ = std::max(2 * memory, kLeastBlock);
        row_ = block_ + 2 * memory;
    }

    /// Reads all of the record that is not silent, once.
    void fit_lines() {
        fitted_ = true;
        if (filter_) {
            raw_.resize(static_cast<std::size_t>(receivers_ * row_));
            filtered_.resize(static_cast<std::size_t>(receivers_ * block_));
        }
        if (!what_.demean && !what_.detrend && !filter_) return;
        std::vector<LineSums> sums(lines_.size());
        const double middle = static_cast<double>(samples_ / 2);
        const std::int64_t piece = std::clamp<std::int64_t>(kFittedValues / receivers_, 1, samples_);
        std::vector<float> values(static_cast<std::size_t>(receivers_ * piece));
        for (std::int64_t first = 0; first < samples_; first += piece) {
            const std::int64_t count = std::min(piece, samples_ - first);
            if (silent(first, count)) continue;
            inner_->read(first, count, values.data(), piece);
            for (std::int64_t r = 0; r < receivers_; ++r) {
                LineSums& sum = sums[static_cast<std::size_t>(r)];
                for (std::int64_t i = 0; i < count; ++i) {
                    const double value = values[static_cast<std::size_t>(r * piece + i)];
                    sum.value += value;
                    sum.value_place += value * (static_cast<double>(first + i) - middle);
                }
            }
        }
        count_samples(sums, middle);
        for (std::size_t r = 0; r < lines_.size(); ++r) lines_[r] = sums[r].line(middle, what_.detrend);
    }

    /// The places of each trace's samples outside of its gaps, whose zeros are in no sum of values.
    void count_samples(std::vector<LineSums>& sums, double middle) const {
        std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> gaps(sums.size());
        for (const Gap& gap : gaps_)
            for (std::size_t r = 0; r < sums.size(); ++r)
                if (gap.receiver < 0 || static_cast<std::size_t>(gap.receiver) == r)
                    gaps[r].emplace_back(gap.first, gap.first + gap.samples);
        for (std::size_t r = 0; r < sums.size(); ++r) {
            std::sort(gaps[r].begin(), gaps[r].end());
            gaps[r].emplace_back(samples_, samples_);
            std::int64_t from = 0;
            for (const auto& [begin, end] : gaps[r]) {
                if (begin > from)
                    sums[r].count_places(static_cast<double>(from) - middle, static_cast<double>(begin) - middle);
                from = std::max(from, end);
            }
        }
    }

    /// Of [first, first + count), as far as it lies in the record; gaps stay zeros.
    void take_lines_off(std::int64_t first, std::int64_t count, float* to, std::int64_t stride) const {
        const std::int64_t from = std::max<std::int64_t>(first, 0), until = std::min(first + count, samples_);
        for (std::int64_t r = 0; r < receivers_; ++r) {
            const TraceLine& line = lines_[static_cast<std::size_t>(r)];
            float* const row = to + r * stride;
            for (std::int64_t k = from; k < until; ++k)
                row[k - first] = static_cast<float>(static_cast<double>(row[k - first]) - line.at(k));
        }
        if (from < until) clear_gaps(from, until - from, to + (from - first), stride);
    }

    /// Filters a block, with as much before and after it as the filter remembers.
    void load(std::int64_t block) {
        if (loaded_ == block) return;
        const std::int64_t memory = filter_->memory(), first = block * block_ - memory;
        inner_->read(first, row_, raw_.data(), row_);
        take_lines_off(first, row_, raw_.data(), row_);
#pragma omp parallel
        {
            std::vector<double> samples(static_cast<std::size_t>(row_));
#pragma omp for
            for (std::int64_t r = 0; r < receivers_; ++r) {
                std::copy_n(raw_.data() + r * row_, row_, samples.begin());
                filter_->apply(samples);
                for (std::int64_t i = 0; i < block_; ++i)
                    filtered_[static_cast<std::size_t>(r * block_ + i)] =
                        static_cast<float>(samples[static_cast<std::size_t>(memory + i)]);
            }
        }
        loaded_ = block;
    }

    std::unique_ptr<Record> inner_;
    Conditioning what_;
    std::vector<TraceLine> lines_;
    std::optional<ZeroPhaseBandpass> filter_;
    std::int64_t block_ = 0, row_ = 0;  ///< samples of a block, alone and with what surrounds it
    std::int64_t loaded_ = -1;
    bool fitted_ = false;
    std::vector<float> raw_, filtered_;
};

}  // namespace

std::unique_ptr<Record> conditioned(std::unique_ptr<Record> record, const Conditioning& what) {
    if (!what.any()) return record;
    return std::make_unique<ConditionedRecord>(std::move(record), what);
}

}  // namespace espalier::bench::seismic
