#include "harness/cli/parse.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "harness/base/failure.hpp"

namespace espalier::bench::cli {
namespace {

/// The number that `text` starts with; what follows it is left in `text`. Not a number: NaN.
double take_number(std::string& text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) return NAN;
    text.erase(0, static_cast<std::size_t>(end - text.data()));
    return value;
}

int take_int(const std::string& text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? value : -1;
}

/// The words between separators; empty ones are left out.
std::vector<std::string> words(const std::string& text, char separator) {
    std::vector<std::string> list;
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find(separator, at), text.size());
        if (end > at) list.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return list;
}

/// One value, or a range and its values if it has a step; `text` is what messages show.
void add_values(AxisValues& axis, const std::string& item, const std::string& text) {
    if (item.find(':') == std::string::npos) {
        axis.values.push_back(item);
        return;
    }
    constexpr std::size_t kMostValues = 10'000;
    const std::vector<std::string> parts = words(item, ':');
    const bool factor = parts.size() == 3 && parts[2].starts_with('x');
    const std::string step_text = parts.size() == 3 ? parts[2].substr(factor ? 1 : 0) : "1";
    const bool whole = parts.size() >= 2 && parts.size() <= 3 && is_whole<std::int64_t>(parts[0]) &&
                       is_whole<std::int64_t>(parts[1]) && is_whole<std::int64_t>(step_text);
    const std::int64_t least = whole ? std::stoll(parts[0]) : 1, most = whole ? std::stoll(parts[1]) : 0,
                       step = whole ? std::stoll(step_text) : 0;
    if (least > most || step < (factor ? 2 : 1) || (factor && least < 1))
        throw Failure(ExitCode::usage, "'" + item + "' in -p " + text +
                                           " is no range least:most:step such as 1000:1000000:x10 or 0:100:25");
    if (parts.size() == 2) {
        axis.ranges.push_back({least, most});
        return;
    }
    for (std::int64_t value = least; value <= most;) {
        if (axis.values.size() == kMostValues)
            throw Failure(ExitCode::usage, "-p " + text + " has more than 10000 values: use a larger step");
        axis.values.push_back(std::to_string(value));
        if (factor ? value > most / step : value > most - step) break;
        value = factor ? value * step : value + step;
    }
}

/// What a unit of bytes multiplies by; 0 for what is none.
double scale_of(std::string unit) {
    std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
    if (unit.ends_with('b')) unit.pop_back();
    const bool binary = unit.ends_with('i');
    if (binary) unit.pop_back();
    constexpr std::string_view kPrefixes = "kmgtp";
    const auto prefix = unit.size() == 1 ? kPrefixes.find(unit[0]) : std::string_view::npos;
    if (prefix != std::string_view::npos) return std::pow(binary ? 1024 : 1000, static_cast<double>(prefix + 1));
    return unit.empty() && !binary ? 1 : 0;
}

}  // namespace

double number_in(const std::string& text) {
    std::string rest = text;
    const double value = take_number(rest);
    return rest.empty() ? value : NAN;
}

std::optional<std::uint64_t> bytes_in(const std::string& text) {
    std::string unit = text;
    const double value = take_number(unit);
    unit.erase(0, unit.find_first_not_of(' '));
    const double bytes = std::floor(value * scale_of(unit));
    constexpr double kMost = 9.2e18;  // below 2^63
    return bytes >= 1 && bytes <= kMost ? std::optional(static_cast<std::uint64_t>(bytes)) : std::nullopt;
}

double parse_duration(const std::string& text, const char* option) {
    std::string unit = text;
    const double value = take_number(unit);
    unit.erase(0, unit.find_first_not_of(' '));
    const double scale = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
    if (!(value > 0) || !std::isfinite(value) || scale == 0)
        throw Failure(ExitCode::usage, std::string(option) + " is a time such as 90s, 3m or 1h, not '" + text + "'");
    return value * scale;
}

double parse_share(const std::string& text, const char* option) {
    std::string unit = text;
    double value = take_number(unit);
    if (unit == "%") value /= 100;
    if (!(value > 0 && value < 1) || !(unit.empty() || unit == "%"))
        throw Failure(ExitCode::usage, std::string(option) + " is a share such as 0.5%, not '" + text + "'");
    return value;
}

std::pair<int, int> parse_shard(const std::string& text) {
    const auto slash = text.find('/');
    if (slash != std::string::npos) {
        const int shard = take_int(text.substr(0, slash)), shards = take_int(text.substr(slash + 1));
        if (shard >= 1 && shard <= shards) return {shard, shards};
    }
    throw Failure(ExitCode::usage, "--shard is i/n with 1 <= i <= n, such as 2/8, not '" + text + "'");
}

bool AxisValues::holds(const std::string& value) const {
    if (std::ranges::count(values, value)) return true;
    if (!is_whole<std::int64_t>(value)) return false;
    const auto number = std::stoll(value);
    return std::ranges::any_of(ranges, [&](const Range& r) { return number >= r.least && number <= r.most; });
}

AxisValues parse_axis_values(const std::string& text) {
    const auto equals = text.find('=');
    AxisValues parsed;
    if (equals != std::string::npos && equals > 0) {
        parsed.axis = text.substr(0, equals);
        for (const std::string& item : words(text.substr(equals + 1), ',')) add_values(parsed, item, text);
    }
    if (parsed.values.empty() && parsed.ranges.empty())
        throw Failure(ExitCode::usage,
                      "-p is axis=value, axis=value,value or axis=least:most:step such as width=640,1280 or "
                      "rows=1000:1000000:x10, not '" +
                          text + "'");
    return parsed;
}

std::pair<std::string, std::vector<std::string>> parse_axis(const std::string& text) {
    AxisValues parsed = parse_axis_values(text);
    if (!parsed.ranges.empty())
        throw Failure(ExitCode::usage, "a range of values to try needs a step, such as " + parsed.axis +
                                           "=1000:1000000:x10 or " + parsed.axis + "=0:100:25, not '" + text + "'");
    return {parsed.axis, parsed.values};
}

}  // namespace espalier::bench::cli
