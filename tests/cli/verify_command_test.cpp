// `espalier verify` as a user runs it: what is sound, damaged, impossible or hostile.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "harness/bench/families/family.hpp"
#include "harness/bench/records/codec.hpp"
#include "harness/bench/records/results.hpp"
#include "tests/support/record_samples.hpp"
#include "tests/support/run_program.hpp"

namespace espalier::bench {
namespace {

class VerifyCommand : public testing::Test {
protected:
    void SetUp() override {
        save_results(results_,
                     {.device = sample_device(), .cases = {sample_record(1), sample_record(2)}, .missing = {}});
    }

    [[nodiscard]] Finished verify(const std::string& arguments) const {
        return run_espalier(folder_, "verify " + arguments);
    }
    [[nodiscard]] std::string journal(const std::vector<CaseRecord>& records) const {
        JournalWriter writer(folder_ / "journal.jsonl");
        writer.append(sample_device());
        writer.append(records);
        return folder_ / "journal.jsonl";
    }

    TemporaryFolder folder_;
    std::filesystem::path results_ = folder_.path() / "results" / "cpu-test-2t";
};

TEST_F(VerifyCommand, WhatIsSoundIsCounted) {
    static_cast<void>(journal({sample_record(3)}));
    const Finished finished = verify("--json " + quoted(folder_.path().string()));
    EXPECT_EQ(finished.code, 0) << finished.err;
    const auto output = nlohmann::json::parse(finished.out);
    ASSERT_EQ(output.size(), 2U);
    EXPECT_EQ(output[0].at("cases"), 1);
    EXPECT_EQ(output[0].at("records"), 2) << "the device, too";
    EXPECT_EQ(output[1].at("cases"), 2);
    EXPECT_EQ(output[1].at("records"), 4) << "device and coverage, too";
    EXPECT_EQ(verify("--quiet " + quoted(folder_.path().string())).out, "");
}

TEST_F(VerifyCommand, EveryDamagedLineIsNamed) {
    const std::string file = (results_ / "histogram.jsonl").string();
    std::string text = read_bytes(file);
    text[text.find("1200.25")] = '9';
    text += text.substr(text.find('\n') + 1);
    std::ofstream(file, std::ios::binary) << text << "\xFF\n";
    const Finished finished = verify(quoted(results_.string()));
    EXPECT_EQ(finished.code, 4);
    expect_holds(finished.err, {"line 1: the checksum", "line 3: the case occurs twice", "line 4: incomplete"});
    expect_holds(finished.out, {"3 faults"});
}

TEST_F(VerifyCommand, ImpossibleTimesAreFound) {
    const std::vector<void (*)(CaseRecord&)> lies{
        [](CaseRecord& r) { r.time_ns = 0; }, [](CaseRecord& r) { r.time_ns = -1; },
        [](CaseRecord& r) { r.samples_ns[0] = 0; },
        [](CaseRecord& r) { r.bytes = 1e9; },  // a thousand times what the device's memory moves
        [](CaseRecord& r) { r.time_lo_ns = r.time_ns + 1; }};
    std::vector<CaseRecord> records{sample_record(0)};
    for (std::size_t i = 0; i < lies.size(); ++i) {
        records.push_back(sample_record(static_cast<int>(i) + 1));
        lies[i](records.back());
    }
    const Finished finished = verify("--json " + quoted(journal(records)));
    EXPECT_EQ(finished.code, 4);
    const auto findings = nlohmann::json::parse(finished.out).at(0).at("findings");
    ASSERT_EQ(findings.size(), lies.size());
    for (std::size_t i = 0; i < lies.size(); ++i) {
        EXPECT_EQ(findings[i].at("place"), records[i + 1].key());
        expect_holds(findings[i].at("what"), {"implausible"});
    }
}

TEST_F(VerifyCommand, TextFromAFileDoesNotSteerTheTerminal) {
    std::string line = seal("case", encode(sample_record()));
    line.replace(line.find("\"ok\""), 4, "\"\\u001b\"");  // and so its checksum is wrong, too
    const std::string file = folder_.file("\x1b[31m.jsonl", line + "\n");
    const Finished finished = verify(quoted(file));
    EXPECT_EQ(finished.code, 4);
    EXPECT_EQ((finished.out + finished.err).find('\x1b'), std::string::npos);
}

TEST_F(VerifyCommand, NothingToVerifyIsNoSuccess) {
    const Finished missing = verify(quoted(folder_ / "nowhere"));
    EXPECT_EQ(missing.code, 4);
    expect_holds(missing.err, {"nowhere is not there"});
    std::filesystem::create_directory(folder_ / "empty");
    EXPECT_EQ(verify(quoted(folder_ / "empty")).code, 4);
    std::ofstream(results_ / "device.json").close();
    EXPECT_EQ(verify(quoted(results_.string())).code, 4);
}

TEST_F(VerifyCommand, StaleRecordsAreListedAndNoFault) {
    const Family& family = *find_family("dot");
    const VariantInfo& variant = family.variants()[family.baseline(DeviceKind::cpu)];
    CaseRecord record = sample_record(1);
    record.family = "dot", record.variant = variant.name;
    record.problem = family.default_problems(DeviceKind::cpu, Effort::quick).front();
    record.provenance.source_id = std::string(64, 'a');
    save_results(results_, {.device = sample_device(), .cases = {record}, .missing = {}});
    const std::string name = "dot/" + std::string(variant.name);
    Finished finished = verify(quoted(results_.string()));
    EXPECT_EQ(finished.code, 0) << finished.err;
    expect_holds(finished.out, {("stale: " + name + ": 1 records").c_str(), "sweep it again"});
    EXPECT_EQ(finished.out.find("accepted"), std::string::npos);

    std::ofstream(results_ / "known_stale.json")
        << R"({"schema":"espalier.known_stale/1","variants":{")" << name << R"(":{"source_id":")" << variant.source_id
        << R"(","reason":"a comment moved"}}})";
    finished = verify("--json " + quoted(results_.string()));
    EXPECT_EQ(finished.code, 0) << finished.err;
    const auto listed = nlohmann::json::parse(finished.out)[0].at("stale");
    const auto stale =
        std::find_if(listed.begin(), listed.end(), [&](auto& entry) { return entry["variant"] == name; });
    ASSERT_NE(stale, listed.end());
    EXPECT_EQ(stale->at("accepted"), "a comment moved");
    std::ofstream(results_ / "known_stale.json") << "[";
    EXPECT_EQ(verify(quoted(results_.string())).code, 4);
}

}  // namespace
}  // namespace espalier::bench
