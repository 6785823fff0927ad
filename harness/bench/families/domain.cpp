#include "harness/bench/families/domain.hpp"

#include <algorithm>
#include <bit>
#include <boost/random/sobol.hpp>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <span>

#include "harness/base/random.hpp"
#include "harness/bench/families/family.hpp"

namespace espalier::bench {
namespace {

constexpr std::size_t kTraceEvery = 4;

__extension__ using Wide = unsigned __int128;

/// FNV-1a.
std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xCBF29CE484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
    return hash;
}

/// log2 of a whole number from 1, in units of 2^-32: squaring the mantissa brings out a binary digit at a time.
std::uint64_t log2_of(std::uint64_t number) {
    const int exponent = std::bit_width(number) - 1;
    std::uint64_t log = static_cast<std::uint64_t>(exponent) << 32, mantissa = number << (63 - exponent);
    for (int digit = 31; digit >= 0; --digit) {
        const auto square = static_cast<Wide>(mantissa) * mantissa;
        const bool two = (square >> 127) != 0;
        mantissa = static_cast<std::uint64_t>(square >> (two ? 64 : 63));
        if (two) log |= std::uint64_t{1} << digit;
    }
    return log;
}

/// From a share of 2^64.
std::uint64_t part_of(std::uint64_t whole, std::uint64_t share) {
    return static_cast<std::uint64_t>((static_cast<Wide>(whole) * share) >> 64);
}

/// The size at a share of the way from `least` to just below `most + 1`, on the scale of logarithms.
std::int64_t log_uniform(std::int64_t least, std::int64_t most, std::uint64_t share) {
    const auto low = static_cast<std::uint64_t>(least), high = static_cast<std::uint64_t>(most) + 1;
    const std::uint64_t log = log2_of(low) + part_of(log2_of(high) - log2_of(low), share);
    std::uint64_t at = low, beyond = high;
    while (beyond - at > 1) {
        const std::uint64_t middle = at + (beyond - at) / 2;
        (log2_of(middle) <= log ? at : beyond) = middle;
    }
    return static_cast<std::int64_t>(at);
}

template <class Entry>
const Entry& by_weight(const std::vector<Entry>& entries, std::uint64_t share) {
    const auto add = [](int sum, const Entry& entry) { return sum + entry.weight; };
    const int all = std::accumulate(entries.begin(), entries.end(), 0, add);
    auto left = static_cast<int>(part_of(static_cast<std::uint64_t>(all), share));
    for (const Entry& entry : entries)
        if ((left -= entry.weight) < 0) return entry;
    return entries.back();
}

/// A size, and the step to the next one that is aligned alike.
struct Size {
    std::string_view axis;
    std::int64_t value, step;
};

class Draw {
public:
    Draw(const Family& family, DeviceKind kind, std::uint64_t seed, Stream stream)
        : family_(family),
          domain_(family.domain(kind)),
          stream_(stream),
          points_(dimensions()),
          shift_(hash_of(std::string(family.name()) + (stream == Stream::sweep ? "/sweep/" : "/unseen/") +
                         std::to_string(seed))) {
        for (const Effort effort : {Effort::quick, Effort::standard, Effort::full})
            for (std::string& key : family.default_problems(kind, effort)) taken_.insert(std::move(key));
    }

    std::vector<std::string> problems(std::size_t count) {
        std::vector<std::string> keys;
        // Far more than limits refuse: a domain that is all drawn ends here.
        for (std::size_t tries = 64 * count + 1024; !domain_.empty() && keys.size() < count && tries > 0; --tries) {
            next_point();
            std::optional<std::string> key;
            if (keys.size() % kTraceEvery == kTraceEvery - 1) key = with_trace();
            if (!key) key = with_sizes();
            if (!key) continue;
            taken_.insert(*key);
            keys.push_back(std::move(*key));
        }
        return keys;
    }

private:
    /// One to choose a trace by, two per size, one per alternative.
    std::size_t dimensions() const { return 1 + 2 * domain_.sizes.size() + domain_.alternatives.size(); }

    void next_point() {
        point_.resize(dimensions());
        points_.generate(point_.begin(), point_.end());
        for (std::size_t d = 0; d < point_.size(); ++d) point_[d] ^= random_bits(shift_, d);
    }

    [[nodiscard]] Size size_of(std::size_t index) const {
        const SizeRange& range = domain_.sizes[index];
        const std::int64_t value = log_uniform(range.least, range.most, point_[1 + 2 * index]);
        if (range.alignments.empty()) return {range.axis, value, 1};
        const std::int64_t multiple = by_weight(range.alignments, point_[2 + 2 * index]).multiple;
        if (multiple == 1) return {range.axis, value % 2 == 1 || value == range.most ? value : value + 1, 2};
        const std::int64_t aligned = std::max(value / multiple, (range.least + multiple - 1) / multiple) * multiple;
        return {range.axis, aligned, multiple};
    }

    [[nodiscard]] std::string alternatives() const {
        std::string text;
        for (std::size_t i = 0; i < domain_.alternatives.size(); ++i) {
            const Alternatives& axis = domain_.alternatives[i];
            const std::uint64_t share = point_[1 + 2 * domain_.sizes.size() + i];
            text.append(";").append(axis.axis).append("=").append(by_weight(axis.values, share).text);
        }
        return text;
    }

    [[nodiscard]] bool fits(const std::string& key) const {
        return !taken_.contains(key) && stream_of(family_.name(), key) == stream_ &&
               within_limits(family_, domain_, key);
    }

    /// Problems that somebody else holds make way to the next larger one, lest half of the points be lost.
    std::optional<std::string> with_sizes() const {
        std::vector<Size> sizes;
        for (std::size_t i = 0; i < domain_.sizes.size(); ++i) sizes.push_back(size_of(i));
        const auto largest = std::ranges::max_element(sizes, {}, &Size::value);
        const std::int64_t most = domain_.sizes[static_cast<std::size_t>(largest - sizes.begin())].most;
        constexpr int kSteps = 16;
        for (int step = 0; step < kSteps && largest->value <= most; ++step, largest->value += largest->step) {
            std::string key = family_.canonical(spelled(sizes) + alternatives());
            if (fits(key)) return key;
        }
        return std::nullopt;
    }

    static std::string spelled(std::span<const Size> sizes) {
        std::string text;
        for (const Size& size : sizes)
            text.append(text.empty() ? "" : ";").append(size.axis).append("=").append(std::to_string(size.value));
        return text;
    }

    /// Features that the trace does not say are drawn.
    std::optional<std::string> with_trace() const {
        const auto& traces = domain_.traces;
        const std::size_t first = traces.empty() ? 0 : part_of(traces.size(), point_[0]);
        std::vector<Size> sizes;
        for (std::size_t i = 0; i < domain_.sizes.size(); ++i) sizes.push_back(size_of(i));
        for (std::size_t i = 0; i < traces.size(); ++i) {
            const std::string_view trace = traces[(first + i) % traces.size()];
            // Of two values of an axis the later one counts.
            std::string key = family_.canonical(spelled(sizes) + alternatives() + ";" + std::string(trace));
            if (fits(key)) return key;
        }
        return std::nullopt;
    }

    const Family& family_;
    Domain domain_;
    Stream stream_;
    boost::random::sobol points_;
    std::uint64_t shift_;
    std::vector<std::uint64_t> point_;
    std::set<std::string> taken_;
};

}  // namespace

std::vector<std::string> draw_problems(const Family& family, DeviceKind kind, std::uint64_t seed, Stream stream,
                                       std::size_t count) {
    return Draw(family, kind, seed, stream).problems(count);
}

Stream stream_of(std::string_view family, std::string_view key) {
    return random_bits(hash_of(family), hash_of(key)) & 1 ? Stream::unseen : Stream::sweep;
}

bool within_limits(const Family& family, const Domain& domain, std::string_view key) {
    const std::vector<double> values = family.feature_values(key);
    const auto value_of = [&](std::string_view name) {
        const auto at = std::ranges::find(family.features(), name, &FeatureInfo::name);
        return at == family.features().end() ? std::numeric_limits<double>::quiet_NaN()
                                             : values[static_cast<std::size_t>(at - family.features().begin())];
    };
    for (const auto& [lesser, greater] : domain.orders)
        if (!(value_of(lesser) <= value_of(greater))) return false;
    return family.data_bytes(key) <= domain.most_data_bytes && family.cost(key).ops() <= domain.most_ops;
}

}  // namespace espalier::bench
