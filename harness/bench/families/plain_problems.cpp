#include "harness/bench/families/plain_problems.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace espalier::bench {
namespace {

/// All ways to take one value of each axis.
std::vector<std::string> products(const std::vector<std::string_view>& axes,
                                  const std::vector<std::vector<std::string>>& values) {
    std::vector<std::string> keys{""};
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        std::vector<std::string> longer;
        for (const std::string& key : keys)
            for (const std::string& value : values[axis])
                longer.push_back(key + (key.empty() ? "" : ";") + std::string(axes[axis]) + "=" + value);
        keys = std::move(longer);
    }
    return keys;
}

std::vector<std::string> steps(const SizeRange& range, Effort effort) {
    if (effort == Effort::quick) {
        const double middle = std::sqrt(static_cast<double>(range.least) * static_cast<double>(range.most));
        return {std::to_string(range.least), std::to_string(static_cast<std::int64_t>(middle))};
    }
    std::vector<std::string> values;
    for (std::int64_t size = range.least; size <= range.most; size *= effort == Effort::full ? 2 : 4)
        values.push_back(std::to_string(size));
    return values;
}

/// Every alternative once, in turn with the sizes: "border=zero;type=float".
std::string alternatives_of(const Domain& domain, std::size_t turn) {
    std::string text;
    for (const Alternatives& axis : domain.alternatives) {
        text.append(";").append(axis.axis).append("=").append(axis.values[turn % axis.values.size()].text);
        turn /= axis.values.size();
    }
    return text;
}

std::size_t ways_of(const Domain& domain) {
    std::size_t ways = 1;
    for (const Alternatives& axis : domain.alternatives) ways *= axis.values.size();
    return ways;
}

std::string sizes_of(const Domain& domain, std::span<const std::int64_t> sizes) {
    std::string text;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        text.append(text.empty() ? "" : ";").append(domain.sizes[axis].axis).append("=" + std::to_string(sizes[axis]));
    return text;
}

}  // namespace

std::vector<std::string> grid_keys(const Domain& domain, Effort effort) {
    std::vector<std::string_view> axes;
    std::vector<std::vector<std::string>> values;
    for (const SizeRange& range : domain.sizes) {
        axes.push_back(range.axis);
        values.push_back(steps(range, effort));
    }
    for (const Alternatives& axis : domain.alternatives) {
        axes.push_back(axis.axis);
        auto& list = values.emplace_back();
        for (const Alternatives::Value& value : axis.values) list.emplace_back(value.text);
    }
    return products(axes, values);
}

std::vector<std::string> small_keys(const Domain& domain, std::int64_t least) {
    static constexpr std::int64_t kSizes[] = {0,   1,    2,    3,    4,    5,    7,    8,    15,   16,    17,
                                              31,  32,   33,   63,   65,   127,  129,  255,  256,  257,   511,
                                              513, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8193, 16385, 65537};
    static constexpr std::int64_t kApart[] = {0, 1, 4, 33, 64, 129};
    const std::size_t axes = domain.sizes.size(), ways = ways_of(domain);
    std::vector<std::string> keys;
    const auto add = [&](std::vector<std::int64_t> sizes) {
        for (std::int64_t& size : sizes) size = std::max(size, least);
        for (std::size_t way = 0; way < ways; ++way)
            keys.push_back(sizes_of(domain, sizes) + alternatives_of(domain, way));
    };
    for (const std::int64_t size : kSizes) add(std::vector<std::int64_t>(axes, size));
    if (axes > 1) {
        const std::size_t apart = std::size(kApart);
        for (std::size_t pair = 0; pair < apart * apart; ++pair) {
            std::vector<std::int64_t> sizes(axes);
            for (std::size_t axis = 0; axis < axes; ++axis)
                sizes[axis] = kApart[(axis % 2 == 0 ? pair / apart + axis / 2 : pair + axis / 2) % apart];
            add(std::move(sizes));
        }
    }
    std::ranges::sort(keys);
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    return keys;
}

}  // namespace espalier::bench
