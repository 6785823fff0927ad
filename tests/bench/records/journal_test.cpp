// Journals under the faults that they are made for: torn tails, flipped bits, full disks, many writers.

#include "harness/bench/records/journal.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

#include <random>
#include <set>

#include "harness/bench/records/codec.hpp"
#include "kernels/json/bad_data.hpp"
#include "tests/support/record_samples.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/trials.hpp"

namespace espalier::bench {
namespace {

std::string journal_of(const TemporaryFolder& folder, int cases) {
    const std::string path = folder / "journal.jsonl";
    JournalWriter writer(path);
    writer.append(sample_device());
    std::vector<CaseRecord> records;
    for (int i = 0; i < cases; ++i) records.push_back(sample_record(i));
    writer.append(records);
    return path;
}

/// Bytes that the damage of a journal covers, newlines aside.
std::uint64_t damaged_bytes(const Journal& journal) {
    std::uint64_t total = 0;
    for (const Damage& damage : journal.damage) total += damage.bytes;
    return total;
}

/// A file that no disk slows down, for tests that need tens of thousands.
class MemoryFile {
public:
    MemoryFile() : file_(memfd_create("journal", 0)) {}
    ~MemoryFile() { close(file_); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    void replace(const std::string& content) const {
        ASSERT_EQ(ftruncate(file_, 0), 0);
        ASSERT_EQ(pwrite(file_, content.data(), content.size(), 0), static_cast<ssize_t>(content.size()));
    }
    [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

private:
    int file_;
};

TEST(Journal, RoundTrips) {
    const TemporaryFolder folder;
    const std::string path = journal_of(folder, 3);
    JournalWriter(path).append(sample_plan(1, 2, {{"histogram", "bytes=1000;distribution=uniform", 1}}));
    const Journal journal = load_journal(path);
    EXPECT_TRUE(journal.damage.empty());
    ASSERT_EQ(journal.cases.size(), 3U);
    EXPECT_EQ(encode(journal.cases[2]), encode(sample_record(2)));
    ASSERT_EQ(journal.devices.size(), 1U);
    EXPECT_EQ(encode(journal.devices[0]), encode(sample_device()));
    ASSERT_EQ(journal.plans.size(), 1U);
    EXPECT_EQ(journal.plans[0].shards, 2);
    EXPECT_EQ(journal.plans[0].items.at(0).problem, "bytes=1000;distribution=uniform");
}

TEST(Journal, TruncatedAtEveryByteLosesOnlyTheRecordThatIsCut) {
    const TemporaryFolder folder;
    const std::string whole = read_bytes(journal_of(folder, 2));
    const MemoryFile file;
    for (std::size_t length = 0; length <= whole.size(); ++length) {
        const std::string cut = whole.substr(0, length);
        file.replace(cut);
        const Journal journal = load_journal(file.path());
        // A record is complete with its closing brace, whether or not its newline made it.
        std::size_t complete = 0;
        for (std::size_t end = whole.find('\n'); end != std::string::npos && end <= length;
             end = whole.find('\n', end + 1))
            ++complete;
        ASSERT_EQ(journal.cases.size() + journal.devices.size(), complete) << "cut at byte " << length;
        const auto last_newline = cut.rfind('\n');
        const std::size_t torn = length - (last_newline == std::string::npos ? 0 : last_newline + 1);
        const bool whole_line = length < whole.size() && whole[length] == '\n';
        ASSERT_EQ(damaged_bytes(journal), whole_line ? 0 : torn) << "cut at byte " << length;
    }
}

TEST(Journal, EveryFlippedBitIsNoticedAndCostsAtMostTwoRecords) {
    const TemporaryFolder folder;
    const std::string whole = read_bytes(journal_of(folder, 6));
    std::set<std::string> originals;
    for (const CaseRecord& record : load_journal(folder / "journal.jsonl").cases)
        originals.insert(encode(record).dump());
    std::mt19937 random(1);
    const MemoryFile file;
    for (int flip = 0; flip < trials(20'000); ++flip) {
        std::string bytes = whole;
        const std::size_t at = random() % bytes.size();
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random() % 8));
        file.replace(bytes);
        const Journal journal = load_journal(file.path());
        ASSERT_GE(journal.cases.size() + journal.devices.size(), 5U) << "flip at byte " << at;
        ASSERT_FALSE(journal.damage.empty()) << "flip at byte " << at;
        for (const CaseRecord& record : journal.cases)
            ASSERT_TRUE(originals.contains(encode(record).dump())) << "flip at byte " << at << " was accepted";
    }
}

TEST(Journal, AppendingAfterATornTailKeepsBothSides) {
    const TemporaryFolder folder;
    const std::string path = journal_of(folder, 2);
    const std::string whole = read_bytes(path);
    std::ofstream(path, std::ios::binary) << whole.substr(0, whole.size() - 30);
    JournalWriter(path).append(std::vector{sample_record(7)});
    const Journal journal = load_journal(path);
    ASSERT_EQ(journal.cases.size(), 2U);
    EXPECT_EQ(journal.cases[1].problem, sample_record(7).problem);
    EXPECT_EQ(journal.damage.size(), 1U);
}

TEST(Journal, SixtyWritersAtOnceLoseNothing) {
    const TemporaryFolder folder;
    const std::string path = folder / "shared.jsonl";
    constexpr int kWriters = 60, kEach = 5;
    std::vector<pid_t> writers;
    for (int w = 0; w < kWriters; ++w) {
        const pid_t pid = fork();
        ASSERT_GE(pid, 0);
        if (pid == 0) {
            JournalWriter writer(path);
            for (int i = 0; i < kEach; ++i) writer.append(std::vector{sample_record(w * kEach + i)});
            _exit(0);
        }
        writers.push_back(pid);
    }
    for (const pid_t pid : writers) {
        int status = 0;
        waitpid(pid, &status, 0);
        EXPECT_EQ(status, 0);
    }
    const Journal journal = load_journal(path);
    EXPECT_TRUE(journal.damage.empty());
    std::set<std::string> keys;
    for (const CaseRecord& record : journal.cases) keys.insert(record.key());
    EXPECT_EQ(journal.cases.size(), static_cast<std::size_t>(kWriters * kEach));
    EXPECT_EQ(keys.size(), journal.cases.size());
}

/// Appends batches in a child whose files may not exceed `limit` bytes, as on a disk that is full from
/// there on. Returns how many of its batches the child saw succeed, or -1 if the failure was no `BadData`.
int batches_until_full(const std::string& path, rlim_t limit) {
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) return -1;
    const pid_t pid = fork();
    if (pid == 0) {
        signal(SIGXFSZ, SIG_IGN);
        const rlimit sizes{limit, limit};
        setrlimit(RLIMIT_FSIZE, &sizes);
        int done = 0;
        try {
            JournalWriter writer(path);
            while (done < 100) {
                writer.append(std::vector{sample_record(3 * done), sample_record(3 * done + 1)});
                ++done;
            }
        } catch (const BadData&) {
            if (write(pipe_ends[1], &done, sizeof done) != sizeof done) _exit(1);
            _exit(0);
        }
        _exit(2);
    }
    int status = 0, done = -1;
    waitpid(pid, &status, 0);
    if (status != 0 || read(pipe_ends[0], &done, sizeof done) != sizeof done) done = -1;
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    return done;
}

TEST(Journal, AFullDiskIsReportedAndLeavesTheJournalWhole) {
    const TemporaryFolder folder;
    std::mt19937 random(2);
    for (int run = 0; run < 50; ++run) {
        const std::string path = folder / ("full" + std::to_string(run) + ".jsonl");
        const int batches = batches_until_full(path, 1 + random() % 20'000);
        ASSERT_GE(batches, 0) << "run " << run;
        const Journal journal = load_journal(path);
        EXPECT_TRUE(journal.damage.empty()) << "run " << run << ": " << journal.damage.front().reason;
        EXPECT_EQ(journal.cases.size(), static_cast<std::size_t>(2 * batches)) << "run " << run;
    }
}

TEST(Journal, ARecordOfANewerVersionIsRefusedWithTheFix) {
    const TemporaryFolder folder;
    std::string line = seal("case", encode(sample_record()));
    // As a newer program would have sealed it.
    line = line.substr(0, line.rfind(",\"crc32\""));
    line.replace(line.find("/1\""), 3, "/2\"");
    const auto crc = [](const std::string& covered) {
        // From the definition, so that the test does not share the code that it tests.
        std::uint32_t value = 0xFFFFFFFF;
        for (const char c : covered) {
            value ^= static_cast<unsigned char>(c);
            for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xEDB88320U : 0);
        }
        return ~value;
    };
    char tail[32];
    std::snprintf(tail, sizeof tail, ",\"crc32\":\"%08x\"}\n", crc(line));
    const std::string path = folder.file("newer.jsonl", line + tail);
    const std::string message = message_of<NewerSchema>([&] { static_cast<void>(load_journal(path)); });
    expect_holds(message, {"newer.jsonl", "espalier.case/2", "update espalier"});
}

TEST(Journal, WhatIsNoJournalIsReportedInBoundedMemory) {
    const TemporaryFolder folder;
    const std::string path = folder / "junk.jsonl";
    {
        std::ofstream file(path, std::ios::binary);
        const std::string junk(1 << 20, '[');
        for (int i = 0; i < 40; ++i) file << junk;  // one line of 40 MiB, 40 million levels deep
        file << '\n' << seal("case", encode(sample_record())) << '\n' << std::string("\0\xFF\n{}\n", 6);
    }
    const Journal journal = load_journal(path);
    EXPECT_EQ(journal.cases.size(), 1U);
    EXPECT_EQ(journal.damage.size(), 3U);
}

TEST(Journal, IsWrittenThroughNoLink) {
    const TemporaryFolder folder;
    const std::string victim = folder.file("victim", "mine\n");
    for (const char* target : {"victim", "nothing"}) {
        const std::string link = folder / (std::string(target) + ".jsonl");
        std::filesystem::create_symlink(target, link);
        expect_holds(message_of<BadData>([&] { JournalWriter writer(link); }),
                     {link.c_str(), "symbolic link", "--output"});
    }
    EXPECT_EQ(read_bytes(victim), "mine\n");
    EXPECT_FALSE(std::filesystem::exists(folder / "nothing"));
    std::filesystem::create_directory(folder / "real");
    std::filesystem::create_directory_symlink("real", folder / "linked");
    JournalWriter(folder / "linked/a.jsonl").append(std::vector{sample_record()});
    EXPECT_EQ(load_journal(folder / "real/a.jsonl").cases.size(), 1U);
}

TEST(Journal, PipesAndDevicesAreRefused) {
    const TemporaryFolder folder;
    const std::string pipe = folder / "pipe.jsonl";
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    std::filesystem::create_symlink("/dev/zero", folder / "zero.jsonl");
    std::filesystem::create_directory(folder / "folder.jsonl");
    for (const char* name : {"pipe.jsonl", "zero.jsonl", "folder.jsonl"}) {
        const std::string path = folder / name;
        expect_holds(message_of<BadData>([&] { load_journal(path); }), {path.c_str()});
        expect_holds(message_of<BadData>([&] { JournalWriter writer(path); }), {path.c_str(), "--output"});
    }
}

TEST(Journal, BombsAreRefusedEarly) {
    const TemporaryFolder folder;
    const auto packed = [&](const char* name, const std::string& block, int times) {
        const std::string path = folder / name;
        const gzFile file = gzopen(path.c_str(), "wb9");
        for (int i = 0; i < times; ++i) gzwrite(file, block.data(), static_cast<unsigned>(block.size()));
        gzclose(file);
        return path;
    };
    expect_holds(message_of<BadData>([&] { load_journal(packed("zeros.gz", std::string(1 << 20, '\0'), 200)); }),
                 {"200 times its size"});
    expect_holds(message_of<BadData>([&] { load_journal(packed("lines.gz", std::string(1 << 20, '\n'), 40)); }),
                 {"lines.gz"});
    expect_holds(message_of<BadData>([&] { load_journal(folder.file("lines", std::string(11'000'000, '\n'))); }),
                 {"without number"});
    expect_holds(
        message_of<BadData>([&] { load_journal(folder.file("line", std::string(std::size_t{65} << 20, 'x'))); }),
        {"without end"});
    std::string words;
    for (int i = 0; i < 1'000'001; ++i) words += "x\n";
    expect_holds(message_of<BadData>([&] { load_journal(folder.file("words", words)); }), {"no journal"});
    // Records pack well, too.
    std::string records;
    for (int i = 0; i < 30'000; ++i) records += seal("case", encode(sample_record(i))) + '\n';
    EXPECT_EQ(load_journal(packed("records.gz", records, 1)).cases.size(), 30'000U);
}

TEST(Journal, AFileThatCannotBeReadOrWrittenIsNamed) {
    const TemporaryFolder folder;
    expect_holds(message_of<BadData>([&] { static_cast<void>(load_journal(folder / "none.jsonl")); }),
                 {"none.jsonl", "no such file"});
    expect_holds(message_of<BadData>([&] { JournalWriter(folder.file("file", "") + "/journal.jsonl"); }),
                 {"journal.jsonl", "--output"});
}

}  // namespace
}  // namespace espalier::bench
