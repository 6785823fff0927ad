// Results files, packed or not, and records of sources that have changed since.

#include "harness/bench/records/results.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "harness/bench/records/codec.hpp"
#include "harness/bench/records/inspect.hpp"
#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/lines.hpp"
#include "harness/bench/records/merge.hpp"
#include "harness/bench/records/packing.hpp"
#include "harness/bench/records/stale.hpp"
#include "kernels/json/bad_data.hpp"
#include "tests/bench/records/journal_of.hpp"

namespace espalier::bench {
namespace {

std::string without_seals(std::string lines) {
    constexpr std::size_t kSeal = sizeof R"(,"crc32":"01234567")" - 1;
    for (std::size_t at = 0; (at = lines.find(",\"crc32\":", at)) != std::string::npos;) lines.erase(at, kSeal);
    return lines;
}

/// With times that packing leaves as they are.
CaseRecord short_record(int number) {
    CaseRecord record = sample_record(number);
    record.samples_ns = {1200, 1190, 1210.0 + number};
    record.time_ns = 1200;
    record.time_hi_ns = 1210.0 + number;
    return record;
}

TEST(Results, DamageIsRefusedWithFileAndLine) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {sample_record(1), sample_record(2)})}, folder / "results", {});
    const std::string file = folder / "results/cpu-test-2t/histogram.jsonl";
    const std::string whole = read_bytes(file);
    std::string changed = whole;
    const auto second = changed.find('\n') + 1;
    changed[changed.find("1200.25", second)] = '9';
    std::ofstream(file, std::ios::binary) << changed;
    expect_holds(message_of<BadData>([&] { static_cast<void>(load_results(folder / "results/cpu-test-2t")); }),
                 {"histogram.jsonl", "line 2", "checksum"});
    std::ofstream(file, std::ios::binary) << whole << whole.substr(second);
    expect_holds(message_of<BadData>([&] { static_cast<void>(load_cases(file)); }), {"line 3", "twice"});
}

TEST(Results, PackedFilesStayPackedAndHoldTheSame) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {short_record(1), short_record(2)})}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t";
    const DeviceResults plain = load_results(device);
    const std::size_t records = inspect(device).records;
    const std::string lines = read_bytes((device / "histogram.jsonl").string());
    std::filesystem::remove(device / "histogram.jsonl");
    std::ofstream(device / "histogram.jsonl.xz", std::ios::binary) << pack(lines);
    save_results(device, load_results(device));
    EXPECT_FALSE(std::filesystem::exists(device / "histogram.jsonl"));
    EXPECT_EQ(read_bytes((device / "histogram.jsonl.xz").string()), pack(without_seals(lines)));
    ASSERT_EQ(load_results(device).cases.size(), plain.cases.size());
    EXPECT_EQ(load_results(device).cases[1].samples_ns, plain.cases[1].samples_ns);
    EXPECT_EQ(inspect(device).records, records);
}

TEST(Results, PackedSamplesHaveFourDigitsAndTheirMedianAll) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {sample_record(1)})}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t";
    DeviceResults results = load_results(device);
    results.cases.at(0).samples_ns = {146'042.67, 145'733.75, 0.25};
    results.cases[0].time_ns = 145'733.75;
    results.cases[0].time_lo_ns = 145'732.5, results.cases[0].time_hi_ns = 146'042.67;
    save_results(device, results);
    EXPECT_EQ(load_results(device).cases[0].samples_ns, results.cases[0].samples_ns);
    save_results(device, results, Packing::packed);
    const CaseRecord packed = load_results(device).cases[0];
    EXPECT_EQ(packed.samples_ns, (std::vector<double>{146'000, 145'700, 0.25}));
    EXPECT_EQ(packed.time_ns, 145'733.75);
    EXPECT_EQ(packed.time_lo_ns, 145'700);
    EXPECT_EQ(packed.time_hi_ns, 146'000);
}

TEST(Results, PackedCasesThatDifferInTheirConfigurationsAloneShareALine) {
    const TemporaryFolder folder;
    std::vector<CaseRecord> cases;
    const auto declines = [&](const char* configuration, const char* reason) {
        CaseRecord record = sample_record(1);
        record.status = Status::unsupported, record.reason = reason, record.configuration = configuration;
        record.samples_ns.clear(), record.time_ns = record.time_lo_ns = record.time_hi_ns = 0;
        cases.push_back(record);
    };
    for (const char* items : {"items=1", "items=2", "items=4"}) declines(items, "one row only");
    declines("items=8", "of another reason");
    cases.push_back(short_record(1));
    merge_journals({journal(folder, "a.jsonl", cases)}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t", file = device / "histogram.jsonl.xz";
    const DeviceResults plain = load_results(device);
    save_results(device, plain, Packing::packed);

    std::vector<std::string> lines;
    for_each_line(file, [&](const Line& line) { lines.emplace_back(line.text); });
    ASSERT_EQ(lines.size(), 3U);
    const auto shared =
        std::ranges::find_if(lines, [](auto& line) { return line.find("one row only") != std::string::npos; });
    expect_holds(*shared, {R"("configurations":["items=1","items=2","items=4"]})"});
    EXPECT_EQ(shared->find(R"("configuration":)"), std::string::npos);

    const DeviceResults packed = load_results(device);
    ASSERT_EQ(packed.cases.size(), plain.cases.size());
    for (std::size_t i = 0; i < plain.cases.size(); ++i) EXPECT_EQ(encode(packed.cases[i]), encode(plain.cases[i]));
    EXPECT_EQ(inspect(device).cases.size(), plain.cases.size());
    EXPECT_EQ(load_journal(file).cases.size(), plain.cases.size());
    EXPECT_TRUE(inspect(device).findings.empty());

    const auto refusal = [&](std::string_view list) {
        std::string line = *shared;
        const auto at = line.find(R"("configurations":)");
        line.replace(at, line.find(']', at) + 1 - at, list);
        std::ofstream(file, std::ios::binary | std::ios::trunc) << pack(line + '\n');
        return message_of<BadData>([&] { static_cast<void>(load_cases(file)); });
    };
    expect_holds(refusal(R"("configurations":[])"), {"line 1", "\"configurations\" is empty"});
    expect_holds(refusal(R"("configurations":["items=1","items=1"])"), {"line 1", "twice"});
    expect_holds(refusal(R"("configurations":["items=1",7])"), {"line 1", "configuration"});
    expect_holds(refusal(R"("configurations":["a=1"],"configuration":"a=2")"), {"line 1", "beside a configuration"});
    std::string many = R"("configurations":["a=0")";
    for (int i = 1; i <= 256; ++i) many += ",\"a=" + std::to_string(i) + "\"";
    expect_holds(refusal(many + "]"), {"line 1", "configurations"});
    std::string timed = unsealed("case", encode(short_record(1)));
    constexpr std::string_view kOne = R"("configuration":"block=256;items=4")";
    timed.replace(timed.find(kOne), kOne.size(), R"("configurations":["a=1","a=2"])");
    std::ofstream(file, std::ios::binary | std::ios::trunc) << pack(timed + '\n');
    expect_holds(message_of<BadData>([&] { static_cast<void>(load_cases(file)); }), {"line 1", "beside times"});
}

TEST(Results, PackedIntervalsHoldTheTime) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {sample_record(1)})}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t";
    DeviceResults results = load_results(device);
    CaseRecord& record = results.cases.at(0);
    record.samples_ns = {145'758.5, 145'758.5};
    record.time_lo_ns = record.time_ns = record.time_hi_ns = 145'758.5;
    save_results(device, results, Packing::packed);
    EXPECT_EQ(load_results(device).cases[0].time_lo_ns, 145'758.5);
    EXPECT_EQ(load_results(device).cases[0].time_hi_ns, 145'800);
}

TEST(Results, PackedFileIsLeftAloneIfItHoldsTheSame) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {sample_record(1), sample_record(2)})}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t", file = device / "histogram.jsonl.xz";
    DeviceResults results = load_results(device);
    save_results(device, results, Packing::packed);
    const auto long_ago = std::filesystem::last_write_time(file) - std::chrono::hours(1);
    const auto is_written = [&] {
        std::filesystem::last_write_time(file, long_ago);
        save_results(device, results);
        return std::filesystem::last_write_time(file) != long_ago;
    };
    EXPECT_FALSE(is_written());
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
    EXPECT_TRUE(is_written());  // it was damaged
    results.cases[1].samples_ns[0] += 1;
    EXPECT_TRUE(is_written());
    results.cases.pop_back();  // a part of what the file holds
    EXPECT_TRUE(is_written());
    EXPECT_EQ(load_cases(file).size(), 1U);
}

TEST(Results, FilesThatWerePackedWithGzipAreReadAndPackedAnew) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {short_record(1), short_record(2)})}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t";
    const std::string lines = read_bytes((device / "histogram.jsonl").string());
    std::filesystem::remove(device / "histogram.jsonl");
    const std::string before = (device / "histogram.jsonl.gz").string();
    const gzFile file = gzopen(before.c_str(), "wb");
    ASSERT_GT(gzwrite(file, lines.data(), static_cast<unsigned>(lines.size())), 0);
    gzclose(file);
    ASSERT_EQ(load_results(device).cases.size(), 2U);
    save_results(device, load_results(device));
    EXPECT_FALSE(std::filesystem::exists(before));
    EXPECT_EQ(read_bytes((device / "histogram.jsonl.xz").string()), pack(without_seals(lines)));
}

/// A packed file has a checksum of its own, a plain one has none but its lines'.
TEST(Results, LinesWithoutSealsAreOfPackedFilesAlone) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {sample_record(1), sample_record(2)})}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t", plain = device / "histogram.jsonl",
                                packed = device / "histogram.jsonl.xz";
    const std::string sealed = read_bytes(plain.string()), bare = without_seals(sealed);
    const auto refusal = [&](const std::filesystem::path& file, const std::string& content) {
        std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
        return message_of<BadData>([&] { static_cast<void>(load_cases(file)); });
    };
    expect_holds(refusal(plain, bare), {"histogram.jsonl", "line 1", "checksum"});
    EXPECT_EQ(load_journal(plain).damage.size(), 2U);
    std::string changed = sealed;
    changed[changed.find("1200.25")] = '9';
    expect_holds(refusal(packed, pack(changed)), {"line 1", "checksum"});
    expect_holds(refusal(packed, pack(bare.substr(0, bare.size() - 2))), {"line 2"});
    std::string damaged = pack(bare);
    damaged[damaged.size() / 2] ^= 1;
    expect_holds(refusal(packed, damaged), {"histogram.jsonl.xz"});
    std::ofstream(packed, std::ios::binary) << pack(bare);
    EXPECT_EQ(load_cases(packed).size(), 2U);
    EXPECT_EQ(load_journal(packed).cases.size(), 2U);
}

TEST(Results, PackedFileThatEndsTooSoonIsRefused) {
    const TemporaryFolder folder;
    merge_journals({journal(folder, "a.jsonl", {sample_record(1), sample_record(2)})}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t";
    const std::string packed = pack(read_bytes((device / "histogram.jsonl").string()));
    std::filesystem::remove(device / "histogram.jsonl");
    for (const std::size_t kept : {packed.size() - 1, packed.size() - 9, packed.size() / 2}) {
        std::ofstream(device / "histogram.jsonl.xz", std::ios::binary) << packed.substr(0, kept);
        expect_holds(message_of<BadData>([&] { static_cast<void>(load_results(device)); }), {"histogram.jsonl.xz"});
    }
}

TEST(Stale, IsWhatWasMeasuredOfOtherSource) {
    const Family& family = *find_family("dot");
    const VariantInfo& variant = family.variants()[family.baseline(DeviceKind::cpu)];
    CaseRecord record = sample_record();
    record.family = "dot", record.variant = variant.name, record.status = Status::ok;
    record.provenance.source_id = variant.source_id;
    std::vector<CaseRecord> records{record, record, record};
    EXPECT_TRUE(find_stale(records).empty());

    records[1].provenance.source_id = std::string(64, 'a');
    records[2].provenance.source_id = std::string(64, 'b');
    records[2].status = Status::timeout;
    records.push_back(record);
    records.back().variant = "no_longer_there";
    const auto stale = find_stale(records);
    ASSERT_EQ(stale.size(), 1U);
    EXPECT_EQ(stale[0].name(), "dot/" + std::string(variant.name));
    EXPECT_EQ(stale[0].rows, 2U);
    EXPECT_EQ(stale[0].timed, 1U);
    EXPECT_EQ(stale[0].measured_id, std::string(64, 'a'));
    EXPECT_EQ(stale[0].source_id, variant.source_id);
    expect_holds(describe(stale[0]), {"dot/", "2 records (1 times)", "aaaaaaaaaaaa", "sweep it again"});
}

TEST(Stale, AListAcceptsOneSourceOnly) {
    const TemporaryFolder folder;
    EXPECT_TRUE(load_known_stale(folder.path()).empty());
    const auto write = [&](const std::string& text) { std::ofstream(folder / "known_stale.json") << text; };
    write(R"({"schema":"espalier.known_stale/1","variants":{"dot/x":{"source_id":"12ab","reason":"a comment"}}})");
    const KnownStaleList known = load_known_stale(folder.path());
    EXPECT_TRUE(is_known(known, {.family = "dot", .variant = "x", .source_id = "12ab"}));
    EXPECT_FALSE(is_known(known, {.family = "dot", .variant = "x", .source_id = "12ac"}));
    EXPECT_FALSE(is_known(known, {.family = "dot", .variant = "y", .source_id = "12ab"}));

    const auto refused = [&](const std::string& text) {
        write(text);
        return message_of<BadData>([&] { static_cast<void>(load_known_stale(folder.path())); });
    };
    expect_holds(refused("[1"), {"known_stale.json", "not JSON"});
    expect_holds(refused(R"({"schema":"espalier.known_stale/2","variants":{}})"), {"schema"});
    expect_holds(refused(R"({"schema":"espalier.known_stale/1","variants":{"dot/x":{"source_id":"1"}}})"), {"reason"});
}

}  // namespace
}  // namespace espalier::bench
