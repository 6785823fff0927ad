#include "harness/cli/parse.hpp"

#include <charconv>
#include <cmath>

#include "harness/cli/command.hpp"

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

}  // namespace

double parse_duration(const std::string& text, const char* option) {
    std::string unit = text;
    const double value = take_number(unit);
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

std::pair<std::string, std::vector<std::string>> parse_axis(const std::string& text) {
    const auto equals = text.find('=');
    std::pair<std::string, std::vector<std::string>> axis;
    if (equals != std::string::npos && equals > 0) {
        axis.first = text.substr(0, equals);
        for (std::size_t at = equals + 1; at <= text.size();) {
            const auto comma = std::min(text.find(',', at), text.size());
            if (comma > at) axis.second.push_back(text.substr(at, comma - at));
            at = comma + 1;
        }
    }
    if (axis.second.empty())
        throw Failure(ExitCode::usage,
                      "-p is axis=value or axis=value,value such as width=640,1280, not '" + text + "'");
    return axis;
}

}  // namespace espalier::bench::cli
