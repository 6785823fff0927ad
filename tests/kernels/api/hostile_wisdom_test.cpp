// Files of wisdom that were damaged, cut off or made up.

#include <filesystem>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/json/bad_data.hpp"
#include "kernels/json/crc32.hpp"
#include "tests/kernels/api/wisdom_support.hpp"

namespace espalier {
namespace {

/// A line of these fields with the checksum that belongs to them.
std::string sealed(const std::string& fields) { return fields + " crc32=" + crc32_digits(fields); }

/// The fields of a good line, in which `from` is replaced.
std::string altered(const std::string& from, const std::string& to) {
    std::string line = wisdom_line(dot_entry(1'000));
    line.resize(line.rfind(" crc32="));
    const auto at = line.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return sealed(line.replace(at, from.size(), to));
}

TEST_F(Wisdom, ALineReadsBack) {
    WisdomEntry entry = dot_entry(1'000);
    entry.exhaustive = true;
    EXPECT_EQ(read_wisdom_line(wisdom_line(entry)), entry);
    entry.driver = "two words\nand a line";
    EXPECT_EQ(read_wisdom_line(wisdom_line(entry)).driver, "two_words_and_a_line");
}

TEST_F(Wisdom, TruncationAtEveryByteLosesOneEntry) {
    const std::string first = wisdom_line(dot_entry(7'001)) + "\n", second = wisdom_line(dot_entry(7'003)) + "\n";
    const std::string all = first + second;
    for (std::size_t bytes = 0; bytes <= all.size(); ++bytes) {
        forget_wisdom();
        const LoadedWisdom loaded = load(all.substr(0, bytes));
        const bool whole_lines =
            bytes == 0 || bytes + 1 >= all.size() || (bytes + 1 >= first.size() && bytes <= first.size());
        EXPECT_EQ(loaded.entries, bytes + 1 >= all.size() ? 2 : bytes + 1 >= first.size() ? 1 : 0) << bytes;
        EXPECT_EQ(loaded.ignored.empty(), whole_lines) << bytes << ": " << loaded.ignored;
    }
}

TEST_F(Wisdom, NoChangedByteIsBelieved) {
    const std::string line = wisdom_line(dot_entry(7'001));
    for (std::size_t at = 0; at < line.size(); ++at)
        for (const char other : {'0', '1', ' ', '\t', '\xff', '\0'}) {
            std::string changed = line;
            if (changed[at] == other) continue;
            changed[at] = other;
            EXPECT_THROW(read_wisdom_line(changed), BadData) << at;
        }
}

TEST_F(Wisdom, NoMadeUpValueIsBelieved) {
    for (const auto& [from, to] :
         std::vector<std::pair<std::string, std::string>>{{"schema=1", "schema=2"},
                                                          {"speedup=1.31", "speedup=nan"},
                                                          {"speedup=1.31", "speedup=inf"},
                                                          {"speedup=1.31", "speedup=-1"},
                                                          {"speedup=1.31", "speedup=0"},
                                                          {"speedup=1.31", "speedup=1e400"},
                                                          {"speedup=1.31", "speedup=1.31x"},
                                                          {"nanoseconds=1234", "nanoseconds="},
                                                          {"choices=3", "choices=-3"},
                                                          {"choices=3", "choices=99999999999999999999"},
                                                          {"deterministic=0", "deterministic=2"},
                                                          {"effort=measure", "effort=guess"},
                                                          {"date=2026-11-26T17:00:00Z", "date=yesterday"},
                                                          {"family=dot", "family=dot family=dot"},
                                                          {"family=dot ", ""},
                                                          {"choices=3", "choices=3 more=1"},
                                                          {"variant=cpu_scalar", "variant=cpu\x01scalar"}})
        EXPECT_THROW(read_wisdom_line(altered(from, to)), BadData) << to;
    for (const auto& [from, to] :
         std::vector<std::pair<std::string, std::string>>{{"family=dot", "family=nonsense"},
                                                          {"elements=1000", "elements=1000;elements=1000"},
                                                          {"elements=1000", "elements=01000"},
                                                          {"elements=1000", "elements=99999999999999999999"},
                                                          {"elements=1000", "elements=nan"},
                                                          {"elements=1000", "width=1000"},
                                                          {"elements=1000", ";;;;===="}}) {
        const LoadedWisdom loaded = load(altered(from, to));
        EXPECT_EQ(loaded.entries, 0) << to;
        EXPECT_NE(loaded.ignored, "") << to;
    }
}

TEST_F(Wisdom, HostileFilesLoadNothing) {
    const std::string deep(1 << 20, '['), endless(1 << 20, 'a');
    std::string noise(1 << 16, '\0');
    std::mt19937 random(7);  // NOLINT: the same bytes each time
    for (char& c : noise) c = static_cast<char>(random());
    for (const std::string& content :
         {deep, endless, noise, std::string("{\"a\":{\"a\":NaN}}\n"), std::string(1000, '\n'),
          std::string(4096, ' ') + "\n", std::string("crc32=00000000\n")}) {
        const LoadedWisdom loaded = load(content);
        EXPECT_EQ(loaded.entries, 0);
        EXPECT_LT(loaded.ignored.size(), 4096U);
    }
    for (int i = 0; i < 200; ++i) {  // a good file with noise in it
        std::string content = wisdom_line(dot_entry(7'001)) + "\n" + wisdom_line(dot_entry(7'003)) + "\n";
        for (int n = 0; n < 3; ++n) content[random() % content.size()] = static_cast<char>(random());
        EXPECT_LE(load(content).entries, 2);
    }
}

TEST_F(Wisdom, AHugeFileIsRefused) {
    const std::string path = file("");
    std::filesystem::resize_file(path, (std::uintmax_t{64} << 20) + 1);
    EXPECT_EQ(load_wisdom(path).error().code, ErrorCode::bad_file);
}

}  // namespace
}  // namespace espalier
