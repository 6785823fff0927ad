// CSV: records and fields as RFC 4180 has them, packed or not, and files that are no CSV.

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/tables/csv.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::io {
namespace {

using Records = std::vector<std::vector<std::string>>;

Records records(const std::string& path, char delimiter = ',') {
    CsvReader reader(path, delimiter);
    Records all;
    std::vector<std::string_view> fields;
    while (reader.next(fields)) all.emplace_back(fields.begin(), fields.end());
    return all;
}

std::string gzipped(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
    const std::string path = folder / name;
    const gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
}

TEST(Csv, ReadsRfc4180) {
    const TemporaryFolder folder;
    const auto path = folder.file("a.csv",
                                  "a,b,c\r\n"
                                  "\"x,y\",\"say \"\"hi\"\"\",\"two\nlines\"\n"
                                  "\n"
                                  " 1 ,\t2, \"3\" \n"
                                  "\"\",,5\"\n"
                                  "last,,");
    EXPECT_EQ(
        records(path),
        (Records{
            {"a", "b", "c"}, {"x,y", "say \"hi\"", "two\nlines"}, {"1", "2", "3"}, {"", "", "5\""}, {"last", "", ""}}));
}

TEST(Csv, CountsLinesInsideQuotes) {
    const TemporaryFolder folder;
    CsvReader reader(folder.file("a.csv", "h\n\n\"1\n2\n3\"\nx\n"));
    std::vector<std::string_view> fields;
    std::vector<std::int64_t> lines;
    while (reader.next(fields)) lines.push_back(reader.line());
    EXPECT_EQ(lines, (std::vector<std::int64_t>{1, 3, 6}));
}

TEST(Csv, OtherDelimitersAndAByteOrderMark) {
    const TemporaryFolder folder;
    EXPECT_EQ(records(folder.file("a.csv",
                                  "\xEF\xBB\xBF"
                                  "1;2\n"),
                      ';'),
              (Records{{"1", "2"}}));
    EXPECT_EQ(records(folder.file("a.tsv", "1\t\t2\n"), '\t'), (Records{{"1", "", "2"}}));
}

TEST(Csv, FieldsOfEveryLengthAreFound) {
    const TemporaryFolder folder;
    std::mt19937 random(3);
    for (const char delimiter : {',', ';', '\t', '|'})
        for (const char* line_end : {"\n", "\r\n", "\r"}) {
            std::string text;
            std::vector<std::vector<std::string>> records;
            while (text.size() < 1'200'000) {  // beyond what is read at once
                std::vector<std::string> fields(2 + random() % 30);
                for (std::string& field : fields) {
                    field = std::string(random() % 4 ? random() % 5 : random() % 40, 'x');
                    for (char& c : field)
                        c = static_cast<char>(random() % 3 ? '0' + random() % 10 : 0xC0 + random() % 32);
                }
                for (std::size_t i = 0; i < fields.size(); ++i) {
                    text += i > 0 ? std::string(1, delimiter) : "";
                    text += (random() % 8 ? "" : "  ") + fields[i] + (random() % 8 ? "" : " ");
                }
                text += line_end;
                if (random() % 5 == 0) text += std::string("  ") + line_end;  // no record
                records.push_back(std::move(fields));
            }
            text += "last" + std::string(1, delimiter) + "one";  // without a line end
            records.push_back({"last", "one"});
            CsvReader reader(folder.file("t.csv", text), delimiter);
            std::vector<std::string_view> fields;
            for (const auto& record : records) {
                ASSERT_TRUE(reader.next(fields));
                ASSERT_EQ(std::vector<std::string>(fields.begin(), fields.end()), record) << reader.line();
            }
            EXPECT_FALSE(reader.next(fields));
            EXPECT_EQ(reader.share(), 1);
        }
}

TEST(Csv, RecordsAcrossBlocksSurvive) {
    // Records of every length around the reader's block of 1 MiB, with and without quotes.
    const TemporaryFolder folder;
    Records expected;
    std::string text;
    for (std::size_t i = 0; i < 4000; ++i) {
        const std::string cell(700 + i % 311, static_cast<char>('a' + i % 26));
        const bool quoted = i % 3 == 0;
        expected.push_back({std::to_string(i), quoted ? cell + "\n" + cell : cell});
        text += std::to_string(i) + "," + (quoted ? "\"" + cell + "\n" + cell + "\"" : cell) + "\n";
    }
    EXPECT_EQ(records(folder.file("a.csv", text)), expected);
    EXPECT_EQ(records(gzipped(folder, "a.csv.gz", text)), expected);
}

TEST(Csv, ADamagedGzipFileIsRefused) {
    const TemporaryFolder folder;
    std::string text;
    for (int i = 0; i < 20000; ++i) text += std::to_string(i * 7919 % 10007) + "," + std::to_string(i) + "\n";
    const std::string whole = read_bytes(gzipped(folder, "a.csv.gz", text));
    const auto cut = folder.file("cut.csv.gz", whole.substr(0, whole.size() / 2));
    expect_holds(message_of<BadFile>([&] { records(cut); }), {"cut.csv.gz", "cut off", "get the whole file again"});
    std::string bad = whole;
    bad[bad.size() / 2] ^= 0x10;
    EXPECT_THROW(records(folder.file("bad.csv.gz", bad)), BadFile);
    EXPECT_THROW(records(folder.file("end.csv.gz", whole.substr(0, whole.size() - 4))), BadFile);
}

TEST(Csv, WhatIsNoCsvIsRefused) {
    const TemporaryFolder folder;
    const auto message = [](const std::string& path) { return message_of<BadFile>([&] { records(path); }); };
    expect_holds(message(folder / "none.csv"), {"none.csv: no such file"});
    expect_holds(message(folder.file("bin.csv", std::string("a\0b", 3))), {"not text", "UTF-8"});
    expect_holds(message(folder.file("open.csv", "a,b\n1,\"2\n3,4\n")), {"open.csv: line 2", "never closed"});
    expect_holds(message(folder.file("after.csv", "a,b\n1,\"2\"3\n")),
                 {"line 2", "after the closing quote", "field 2"});
    expect_holds(message(folder.file("endless.csv", "a\n\"" + std::string(18 << 20, 'x') + "\"")),
                 {"line 2", "16 MiB", "quote"});
}

}  // namespace
}  // namespace espalier::bench::io
