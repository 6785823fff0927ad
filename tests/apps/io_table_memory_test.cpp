// Tables larger than what may be kept of them: rows stream, and what would fill the memory is refused.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>

#include <thread>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/tables/csv.hpp"
#include "harness/apps/tables/table.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::bench::io {
namespace {

TEST(Table, ManyDifferentNumbersNeedNoMemoryBesideTheRows) {
    const TemporaryFolder folder;
    std::string text = "a,b,y\n";
    for (int i = 0; i < 20'000; ++i) text += std::to_string(i) + ".5," + std::to_string(i % 7) + ",p\n";
    const Table table = read_table(folder.file("t.csv", text), {.max_bytes = 20'000 * 24});
    for (const int i : {0, 4095, 4096, 4097, 19'999})
        EXPECT_EQ(table.rows.attributes.at(static_cast<std::size_t>(i), 0), i + 0.5);
    EXPECT_EQ(table.rows.attributes.at(19'999, 1), 19'999 % 7);
    expect_holds(message_of<BadFile>([&] { read_table(folder.file("t.csv", text + "oops,1,p\n"), {}); }),
                 {"line 20002, column 'a'", "'oops' is not a number", "--nominal 1"});
    // Texts count, too: 60,000 of 2,000 bytes are 120 MB.
    std::string keys = "a,y\n";
    for (int i = 0; i < 2000; ++i) keys += "k" + std::to_string(i) + std::string(2000, 'x') + ",p\n";
    expect_holds(message_of<BadFile>([&] { read_table(folder.file("t.csv", keys), {.max_bytes = 2 << 20}); }),
                 {"bytes of texts", "2097152 bytes", "the whole file would need about", "--memory"});
}

TEST(Table, WhatUnpacksWithoutEndIsRefused) {
    const TemporaryFolder folder;
    const std::string path = folder / "bomb.csv.gz";
    const gzFile file = gzopen(path.c_str(), "wb");
    const std::string row = std::string(1017, '0') + "1,2,a\n";
    for (int i = 0; i < 20 << 10; ++i) gzwrite(file, row.data(), static_cast<unsigned>(row.size()));
    gzclose(file);
    expect_holds(message_of<BadFile>([&] { read_table(path, {}); }),
                 {"bomb.csv.gz: unpacks to", "times its size", "--max-inflation"});
    CsvReader lifted(path, ',', 2000);
    std::vector<std::string_view> fields;
    std::size_t records = 0;
    while (lifted.next(fields)) ++records;
    EXPECT_EQ(records, 20U << 10);
    expect_holds(message_of<BadFile>([&] { read_table(folder.file("wide.csv", std::string(1 << 20, ',')), {}); }),
                 {"1048577 columns", "--delimiter"});
}

std::size_t peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
}

TEST(Table, ThreeMillionRowsStreamInBoundedMemory) {
    // Through a pipe, so that the test needs no disk; 3,000,000 rows are what source K streams at most.
    constexpr std::int64_t kRows = 3'000'000;
    const TemporaryFolder folder;
    const Table train = read_table(folder.file("train.csv", "a,b,c,y\n0,0,0,no\n1,1,1,yes\n"), {});
    const std::string pipe = folder / "pipe.csv";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::thread writer([&] {
        std::ofstream out(pipe, std::ios::binary);
        out << "a,b,c,y\n";
        std::string line;
        for (std::int64_t i = 0; i < kRows; ++i) {
            line.clear();
            line.append(std::to_string(i)).append(".25,-").append(std::to_string(i % 97));
            line.append(i % 10 ? ",1e-3," : ",,").append(i % 2 ? "yes\n" : "no\n");
            out << line;
        }
    });
    const std::size_t before = peak_bytes();
    TableReader reader(pipe, {}, train.schema);
    Rows chunk;
    std::int64_t rows = 0, yes = 0;
    double sum = 0;
    while (true) {
        chunk.clear();
        if (!reader.read(chunk, 10'000)) break;
        rows += static_cast<std::int64_t>(chunk.size());
        for (const double value : chunk.attributes.column(1)) sum -= value;
        for (const auto label : chunk.classes) yes += label;
    }
    writer.join();
    EXPECT_EQ(rows, kRows);
    EXPECT_EQ(yes, kRows / 2);
    double expected = 0;
    for (std::int64_t i = 0; i < kRows; ++i) expected += static_cast<double>(i % 97);
    EXPECT_EQ(sum, expected);
    EXPECT_EQ(reader.schema().attributes[2].missing, kRows / 10);
#if !defined(__SANITIZE_ADDRESS__)
    EXPECT_LT(peak_bytes() - before, 32U << 20) << "the file has about 90 MB";
#endif
}

}  // namespace
}  // namespace espalier::bench::io
