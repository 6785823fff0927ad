#include "kernels/dispatch/wisdom_entry.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

#include "kernels/json/bad_data.hpp"
#include "kernels/json/crc32.hpp"

namespace espalier {
namespace {

constexpr std::string_view kWisdomChecksum = " crc32=";
constexpr std::size_t kWisdomTail = kWisdomChecksum.size() + 8;
constexpr std::string_view kWisdomSchema = "1";

bool is_plain_letter(char c) { return c > ' ' && c < '\x7f'; }

/// Four digits are more than a measurement gives. By std::to_chars, which knows no locale.
std::string four_digits(double value) {
    char text[32];
    const auto end = std::to_chars(std::begin(text), std::end(text), value, std::chars_format::general, 4);
    return {std::begin(text), end.ptr};
}

class LineWriter {
public:
    LineWriter& add(std::string_view name, std::string_view value) {
        line_.append(line_.empty() ? "" : " ").append(name).append("=");
        for (const char c : value) line_ += is_plain_letter(c) ? c : '_';
        return *this;
    }
    [[nodiscard]] std::string sealed() const { return line_ + std::string(kWisdomChecksum) + crc32_digits(line_); }

private:
    std::string line_;
};

/// Takes the fields of a line in their order.
class LineReader {
public:
    explicit LineReader(std::string_view fields) : rest_(fields) {}

    std::string text(std::string_view name) {
        const std::string_view field = rest_.substr(0, rest_.find(' '));
        if (field.substr(0, name.size()) != name || field.substr(name.size(), 1) != "=")
            throw BadData("it has no " + std::string(name) + " where that belongs");
        rest_.remove_prefix(std::min(rest_.size(), field.size() + 1));
        const std::string_view value = field.substr(name.size() + 1);
        if (value.empty() || !std::ranges::all_of(value, is_plain_letter)) refuse(name);
        return std::string(value);
    }

    bool flag(std::string_view name, std::string_view no, std::string_view yes) {
        const std::string value = text(name);
        if (value != no && value != yes) refuse(name);
        return value == yes;
    }

    int count(std::string_view name, int most) {
        const std::string value = text(name);
        int number = 0;
        const auto end = std::from_chars(value.data(), value.data() + value.size(), number);
        if (end.ec != std::errc() || end.ptr != value.data() + value.size() || number < 0 || number > most)
            refuse(name);
        return number;
    }

    double positive(std::string_view name) {
        constexpr double kMost = 1e18;  // of nanoseconds thirty years
        const std::string value = text(name);
        double number = 0;
        const auto end = std::from_chars(value.data(), value.data() + value.size(), number);
        if (end.ec != std::errc() || end.ptr != value.data() + value.size() || !(number > 0) || number > kMost)
            refuse(name);
        return number;
    }

    /// "2026-11-26T17:00:00Z".
    std::string date(std::string_view name) {
        constexpr std::string_view kForm = "0000-00-00T00:00:00Z";
        const std::string value = text(name);
        const auto fits = [](char form, char c) { return form == '0' ? c >= '0' && c <= '9' : c == form; };
        if (!std::ranges::equal(kForm, value, fits)) refuse(name);
        return value;
    }

    void end() const {
        if (!rest_.empty()) throw BadData("it has more fields than this version knows");
    }

private:
    [[noreturn]] static void refuse(std::string_view name) {
        throw BadData("its " + std::string(name) + " says what cannot be");
    }

    std::string_view rest_;
};

/// The line without its checksum.
std::string_view unsealed(std::string_view line) {
    if (line.size() > kLongestWisdomLine) throw BadData("it is longer than any line of wisdom");
    if (line.size() < kWisdomTail || line.substr(line.size() - kWisdomTail, kWisdomChecksum.size()) != kWisdomChecksum)
        throw BadData("it has no checksum at its end: it was cut off, or is no wisdom");
    const std::string_view covered = line.substr(0, line.size() - kWisdomTail);
    if (line.substr(line.size() - 8) != crc32_digits(covered))
        throw BadData("its checksum does not match: it was damaged or edited");
    return covered;
}

constexpr int kMostWisdomThreads = 1 << 20, kMostWisdomChoices = 1 << 20;

}  // namespace

std::string wisdom_line(const WisdomEntry& entry) {
    LineWriter line;
    line.add("schema", kWisdomSchema)
        .add("family", entry.family)
        .add("problem", entry.problem)
        .add("device", entry.device);
    line.add("threads", std::to_string(entry.threads)).add("deterministic", entry.deterministic ? "1" : "0");
    line.add("driver", entry.driver).add("library", entry.library).add("source", entry.source);
    line.add("variant", entry.variant).add("configuration", entry.configuration);
    line.add("effort", entry.exhaustive ? "exhaustive" : "measure").add("date", entry.date);
    line.add("speedup", four_digits(entry.speedup)).add("nanoseconds", four_digits(entry.nanoseconds));
    line.add("choices", std::to_string(entry.choices));
    return line.sealed();
}

WisdomEntry read_wisdom_line(std::string_view line) {
    LineReader fields(unsealed(line));
    if (fields.text("schema") != kWisdomSchema)
        throw BadData("another version of espalier wrote it, whose wisdom has another form");
    WisdomEntry entry;
    entry.family = fields.text("family");
    entry.problem = fields.text("problem");
    entry.device = fields.text("device");
    entry.threads = fields.count("threads", kMostWisdomThreads);
    entry.deterministic = fields.flag("deterministic", "0", "1");
    entry.driver = fields.text("driver");
    entry.library = fields.text("library");
    entry.source = fields.text("source");
    entry.variant = fields.text("variant");
    entry.configuration = fields.text("configuration");
    entry.exhaustive = fields.flag("effort", "measure", "exhaustive");
    entry.date = fields.date("date");
    entry.speedup = fields.positive("speedup");
    entry.nanoseconds = fields.positive("nanoseconds");
    entry.choices = fields.count("choices", kMostWisdomChoices);
    fields.end();
    return entry;
}

}  // namespace espalier
