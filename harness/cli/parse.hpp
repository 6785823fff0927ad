#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace espalier::bench::cli {

/// The number that the whole text is; NaN for any other text.
double number_in(const std::string& text);

/// Whether the text is a whole number that an Integer can hold.
template <class Integer>
bool is_whole(const std::string& text) {
    Integer value{};
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stop == end;
}

/// "4096", "500MB", "500M", "1.5GB", "2GiB" -> bytes, at least 1. k, M, G, T are powers of 1000, Ki, Mi, Gi, Ti of
/// 1024, in any case, with a B or without. Nothing for any other text, and beyond 2^63.
std::optional<std::uint64_t> bytes_in(const std::string& text);

/// "90", "90s", "3m", "1.5h" -> seconds. Throws `Failure` with the exit code for wrong usage.
double parse_duration(const std::string& text, const char* option);

/// "0.5%", "0.005" -> 0.005; must lie between 0 and 1.
double parse_share(const std::string& text, const char* option);

/// "2/8" -> {2, 8}, from 1.
std::pair<int, int> parse_shard(const std::string& text);

/// What "-p axis=..." says of an axis: "border=zero", "rows=1000,2000", with a step "rows=1000:1000000:x10" (1000,
/// 10000,
/// ...) or "rows=0:100:25", and without one "rows=1000:1000000", which is every value between.
struct AxisValues {
    struct Range {
        std::int64_t least, most;
    };
    std::string axis;
    std::vector<std::string> values;  ///< those of stepped ranges too
    std::vector<Range> ranges;        ///< those without a step

    /// Whether the text is one of the values, or a number within a range.
    [[nodiscard]] bool holds(const std::string& value) const;
};

/// Throws `Failure` with the exit code for wrong usage.
AxisValues parse_axis_values(const std::string& text);

/// Parses an axis whose every value is to be tried, so that a range needs a step. "n=1000,2000" -> {"n", {"1000",
/// "2000"}}
std::pair<std::string, std::vector<std::string>> parse_axis(const std::string& text);

}  // namespace espalier::bench::cli
