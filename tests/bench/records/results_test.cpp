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

/// A variant of three configurations that declines, one of two that have times, and a baseline: another order of
/// cases, or a problem of one case, is the line of another file.
std::vector<CaseRecord> cases_of_a_problem() {
    std::vector<CaseRecord> cases;
    const auto add = [&](const char* variant, const char* configuration) -> CaseRecord& {
        cases.push_back(short_record(1));
        cases.back().variant = variant, cases.back().configuration = configuration;
        return cases.back();
    };
    add("baseline", "default").role = "baseline";
    cases.back().conditions = {}, cases.back().counters = {};
    for (const char* items : {"items=1", "items=2", "items=4"}) {
        CaseRecord& record = add("declines", items);
        record.status = Status::unsupported, record.reason = "one row only";
        record.samples_ns.clear(), record.time_ns = record.time_lo_ns = record.time_hi_ns = 0;
    }
    add("shared_atomics", "block=128").conditions = {.foreign_cpu_share = 0.125, .clock_share = 0.5};
    add("shared_atomics", "block=256").stages = {"distance/register_tile"};
    return cases;
}

TEST(Results, PackedCasesOfAProblemShareALine) {
    const TemporaryFolder folder;
    std::vector<CaseRecord> cases = cases_of_a_problem();
    cases.push_back(short_record(2));
    merge_journals({journal(folder, "a.jsonl", cases)}, folder / "results", {});
    const std::filesystem::path device = folder / "results/cpu-test-2t", file = device / "histogram.jsonl.xz";
    const DeviceResults plain = load_results(device);
    save_results(device, plain, Packing::packed);

    std::vector<std::string> lines;
    for_each_line(file, [&](const Line& line) { lines.emplace_back(line.text); });
    ASSERT_EQ(lines.size(), 2U);
    for (const char* once : {R"("family":)", R"("features":)", "espalier 0.1.0", "one row only", R"("declines")"})
        EXPECT_EQ(lines[0].find(once), lines[0].rfind(once)) << once;
    expect_holds(lines[0],
                 {R"("cases":[{"configuration":"items=1"},{"configuration":"items=2"},{"configuration":"items=4"}])"});
    EXPECT_EQ(lines[1].find("cases"), std::string::npos);

    const DeviceResults packed = load_results(device);
    ASSERT_EQ(packed.cases.size(), 7U);
    for (std::size_t i = 0; i < plain.cases.size(); ++i) EXPECT_EQ(encode(packed.cases[i]), encode(plain.cases[i]));
    EXPECT_EQ(inspect(device).cases.size(), 7U);
    EXPECT_EQ(inspect(device).records, 9U);  // and device.json, coverage.json
    EXPECT_EQ(load_journal(file).cases.size(), 7U);
    EXPECT_TRUE(inspect(device).findings.empty());
}

TEST(Results, ALineOfSeveralCasesHasEachMemberOnce) {
    const TemporaryFolder folder;
    const std::filesystem::path file = folder / "histogram.jsonl.xz";
    const auto write = [&](const std::string& cases, const std::vector<std::string>& left_out, const char* more) {
        auto shared = encode(short_record(1));
        shared["samples_ns"] = nlohmann::ordered_json::array(), shared["status"] = "unsupported",
        shared["reason"] = "no";
        for (const std::string& name : left_out) shared.erase(name);
        std::string line = unsealed("case", shared);
        line.insert(line.size() - 2, more + (",\"cases\":" + cases));
        std::ofstream(file, std::ios::binary | std::ios::trunc) << pack(line + '\n');
    };
    const auto refusal = [&](const std::string& cases, const std::vector<std::string>& left_out = {"configuration"},
                             const char* more = "") {
        write(cases, left_out, more);
        return message_of<BadData>([&] { static_cast<void>(load_cases(file)); });
    };
    const std::string two = R"([{"configuration":"a=1"},{"configuration":"a=2"}])";
    write(two, {"configuration"}, "");
    EXPECT_EQ(load_cases(file).size(), 2U);
    write(R"([{"configuration":"a=1","cases":[{"role":"peer"}]},{"role":"baseline","configuration":"a=2"}])",
          {"configuration", "role"}, "");
    EXPECT_EQ(load_cases(file).at(1).role, "baseline");
    expect_holds(refusal("[]"), {"line 1", "\"cases\" is empty"});
    expect_holds(refusal("7"), {"line 1", "cases"});
    expect_holds(refusal("[7]"), {"line 1", "cases"});
    expect_holds(refusal(R"([{"configuration":"a=1"},{"configuration":"a=1"}])"), {"line 1", "twice"});
    expect_holds(refusal(R"([{"configuration":7}])"), {"line 1", "configuration"});
    expect_holds(refusal(R"([{"configuration":"a=1"},{}])"), {"line 1", "configuration"});
    expect_holds(refusal(two, {}), {"line 1", "\"configuration\" is of several cases and of one"});
    expect_holds(refusal(R"([{"configuration":"a=1","provenance":{"cache":"cold"}}])"),
                 {"line 1", "\"cache\" is of several cases and of one"});
    expect_holds(refusal(R"([{"configuration":"a=1","provenance":7}])"), {"line 1", "\"provenance\" is of several"});
    expect_holds(refusal(R"([{"configuration":"a=1","unknown":7}])"), {"line 1", "does not know"});
    expect_holds(refusal(two, {"configuration", "samples_ns"}, R"(,"samples_ns":[1])"), {"line 1", "samples_ns"});
    // No line stands for more cases than it may list, however it nests them.
    std::string many = R"([{"configuration":"a=0","variant":"v0"})";
    for (int i = 1; i <= 256; ++i) many += R"(,{"configuration":"a=)" + std::to_string(i) + R"(","variant":"v"})";
    expect_holds(refusal(many + "]", {"configuration", "variant"}), {"line 1", "cases"});
    many = "[";
    for (int i = 0; i < 129; ++i)
        many += std::string(i ? ",{" : "{") + R"("configuration":"a=)" + std::to_string(i) +
                R"(","cases":[{"variant":"v"},{"variant":"w"}]})";
    expect_holds(refusal(many + "]", {"configuration", "variant"}), {"line 1", "\"cases\" are too many"});
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
