#include "harness/apps/tables/iso_time.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace espalier::bench::io {
namespace {

/// Takes what it reads off the front of a text.
class Scanner {
public:
    explicit Scanner(std::string_view text) : text_(text) {}

    [[nodiscard]] bool done() const { return text_.empty(); }

    bool take(std::string_view any_of) {
        if (text_.empty() || any_of.find(text_[0]) == std::string_view::npos) return false;
        last_ = text_[0];
        text_.remove_prefix(1);
        return true;
    }

    /// The character that `take` took.
    [[nodiscard]] char last() const { return last_; }

    /// A number of `least` to `most` digits.
    std::optional<int> number(std::size_t least, std::size_t most) {
        std::size_t size = 0;
        int value = 0;
        for (; size < text_.size() && size < most && text_[size] >= '0' && text_[size] <= '9'; ++size)
            value = 10 * value + (text_[size] - '0');
        if (size < least) return std::nullopt;
        text_.remove_prefix(size);
        return value;
    }

    std::optional<int> number_up_to(int greatest) {
        const auto value = number(2, 2);
        return value && *value <= greatest ? value : std::nullopt;
    }

    /// Decimals as a fraction; 0 if there are none.
    Number fraction() {
        std::size_t size = 1;
        while (size < text_.size() && text_[size] >= '0' && text_[size] <= '9') ++size;
        if (size < 2 || text_[0] != '.') return 0;
        const Number value = parse_number("0" + std::string(text_.substr(0, size))).value_or(0);
        text_.remove_prefix(size);
        return value;
    }

private:
    std::string_view text_;
    char last_ = 0;
};

constexpr Number kSeconds = 86400;  // of a day

/// Seconds of a time of day; a leap second is the next day's first.
std::optional<Number> time_of_day(Scanner& scanner) {
    const auto hour = scanner.number_up_to(24);
    if (!hour || !scanner.take(":")) return std::nullopt;
    const auto minute = scanner.number_up_to(59);
    if (!minute) return std::nullopt;
    Number seconds = 60.0 * (60 * *hour + *minute);
    if (scanner.take(":")) {
        const auto second = scanner.number_up_to(60);
        if (!second) return std::nullopt;
        seconds += *second + scanner.fraction();
    }
    return seconds <= kSeconds ? std::optional(seconds) : std::nullopt;
}

/// Seconds east of Greenwich.
std::optional<Number> zone(Scanner& scanner) {
    if (scanner.take("zZ")) return 0;
    if (!scanner.take("+-")) return std::nullopt;
    const Number sign = scanner.last() == '-' ? -1 : 1;
    const auto hours = scanner.number_up_to(23);
    if (!hours) return std::nullopt;
    scanner.take(":");
    const auto minutes = scanner.done() ? 0 : scanner.number_up_to(59);
    return minutes ? std::optional(sign * 60 * (60 * *hours + *minutes)) : std::nullopt;
}

/// Days since 1970-01-01.
std::optional<Number> days(Scanner& scanner) {
    namespace time = std::chrono;
    const auto year = scanner.number(4, 4);
    if (!year || !scanner.take("-")) return std::nullopt;
    const auto month = scanner.number(2, 2);
    const auto day = scanner.take("-") ? scanner.number(2, 2) : 1;
    if (!month || !day) return std::nullopt;
    const time::year_month_day date{time::year(*year), time::month(static_cast<unsigned>(*month)),
                                    time::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    return time::sys_days(date).time_since_epoch().count();
}

}  // namespace

std::optional<Amount> parse_iso_time(std::string_view text) {
    Scanner time_alone(text);
    if (const auto seconds = time_of_day(time_alone); seconds && time_alone.done())
        return Amount{*seconds / kSeconds, {Unit::Kind::time}};
    Scanner scanner(text);
    const auto date = days(scanner);
    if (!date) return std::nullopt;
    if (scanner.done()) return Amount{*date, {Unit::Kind::date}};
    if (!scanner.take("Tt ")) return std::nullopt;
    const auto seconds = time_of_day(scanner);
    if (!seconds) return std::nullopt;
    if (scanner.done()) return Amount{*date + *seconds / kSeconds, {Unit::Kind::date}};
    scanner.take(" ");
    const auto east = zone(scanner);
    if (!east || !scanner.done()) return std::nullopt;
    return Amount{*date + (*seconds - *east) / kSeconds, {Unit::Kind::instant}};
}

bool is_customary_date(std::string_view text) {
    text = text.substr(0, text.find_first_of(" T,"));
    const auto first_end = text.find_first_of("/.-");
    if (first_end == std::string_view::npos) return false;
    const auto second_end = text.find(text[first_end], first_end + 1);
    if (second_end == std::string_view::npos) return false;
    const std::array<std::string_view, 3> parts{
        text.substr(0, first_end), text.substr(first_end + 1, second_end - first_end - 1), text.substr(second_end + 1)};
    std::array<int, 3> values{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Scanner scanner(parts[i]);
        const auto value = scanner.number(1, 4);
        if (!value || !scanner.done()) return false;
        values[i] = *value;
    }
    const auto are_day_and_month = [&](std::size_t a, std::size_t b) {
        const int least = std::min(values[a], values[b]), most = std::max(values[a], values[b]);
        return least >= 1 && least <= 12 && most <= 31 && parts[a].size() <= 2 && parts[b].size() <= 2;
    };
    if (parts[0].size() == 4) return are_day_and_month(1, 2);
    // "1.2.3" is a version rather.
    const bool two_digits = parts[0].size() == 2 && parts[1].size() == 2 && parts[2].size() == 2;
    return are_day_and_month(0, 1) && (parts[2].size() == 4 || two_digits);
}

}  // namespace espalier::bench::io
