#include "harness/records/inspect.hpp"

#include <algorithm>
#include <set>

#include "harness/records/codec.hpp"
#include "harness/records/journal.hpp"
#include "harness/records/lines.hpp"
#include "harness/records/results.hpp"
#include "harness/records/roofline.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

bool holds_one_device(const fs::path& folder) { return fs::exists(folder / "device.json"); }

void look_into(const fs::path& path, std::vector<fs::path>& found) {
    if (!fs::is_directory(path) || holds_one_device(path)) {
        found.push_back(path);
        if (const fs::path unseen = unseen_folder(path); holds_one_device(unseen)) found.push_back(unseen);
        return;
    }
    for (const auto& entry : fs::directory_iterator(path))
        if (entry.is_directory() || !family_of_file(entry.path()).empty()) look_into(entry.path(), found);
}

Inspection inspect_journal(const fs::path& path) {
    Inspection inspection{.path = path, .devices = {}, .cases = {}, .findings = {}};
    try {
        Journal journal = load_journal(path);
        inspection.records = journal.cases.size() + journal.plans.size() + journal.devices.size();
        inspection.devices = std::move(journal.devices);
        inspection.cases = std::move(journal.cases);
        for (const Damage& damage : journal.damage)
            inspection.findings.push_back(
                {path, "byte " + std::to_string(damage.offset),
                 std::to_string(damage.bytes) + " bytes hold no complete record: " + damage.reason});
    } catch (const NewerSchema& error) {
        inspection.findings.push_back({path, "", error.what()});
    }
    return inspection;
}

/// The lines of one file of a device's folder.
class ResultsFile {
public:
    ResultsFile(Inspection& inspection, fs::path path) : inspection_(inspection), path_(std::move(path)) {}

    void read() {
        for_each_line(path_, [&](const Line& line) {
            ++number_;
            try {
                if (line.overlong) throw BadData("longer than any record");
                take(unseal(line.text));
                ++inspection_.records;
            } catch (const BadData& error) {
                refuse(error.what());
            }
        });
        if (number_ == 0) refuse("is empty");
    }

private:
    void take(const Sealed& sealed) {
        const bool cases = !family_of_file(path_).empty();
        if (sealed.kind != (cases ? "case" : path_.stem().string()))
            throw BadData("a record of another kind than the file's");
        if (sealed.kind == "device") inspection_.devices.push_back(decode_device(sealed.body));
        if (cases) take_case(decode_case(sealed.body));
    }

    void take_case(CaseRecord record) {
        if (record.family != family_of_file(path_)) throw BadData("a case of another family than the file's");
        if (!inspection_.devices.empty() && record.provenance.device_key != inspection_.devices.front().key)
            throw BadData("a case of another device, " + record.provenance.device_key);
        if (!keys_.insert(record.key()).second) throw BadData("the case occurs twice");
        inspection_.cases.push_back(std::move(record));
    }

    void refuse(const std::string& why) {
        constexpr std::size_t kMostFindings = 10'000;  // as many as of a journal
        if (inspection_.findings.size() >= kMostFindings) return;
        inspection_.findings.push_back({path_, "line " + std::to_string(number_), why});
    }

    Inspection& inspection_;
    fs::path path_;
    std::set<std::string> keys_;
    int number_ = 0;
};

/// A device's folder, or one family's file of it.
Inspection inspect_results(const fs::path& path) {
    Inspection inspection{.path = path, .devices = {}, .cases = {}, .findings = {}};
    const bool whole = fs::is_directory(path);
    const fs::path folder = whole ? path : path.parent_path();
    ResultsFile(inspection, folder / "device.json").read();
    std::vector<fs::path> files;
    if (!whole) files.push_back(path);
    if (whole && fs::exists(folder / "coverage.json")) files.push_back(folder / "coverage.json");
    if (whole)
        for (const auto& entry : fs::directory_iterator(folder))
            if (!family_of_file(entry.path()).empty()) files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    for (const fs::path& file : files) ResultsFile(inspection, file).read();
    return inspection;
}

}  // namespace

std::vector<fs::path> find_record_files(const std::vector<fs::path>& paths) {
    std::vector<fs::path> found;
    for (const fs::path& path : paths) {
        if (!fs::exists(path)) throw BadData(path.string() + " is not there: check the path");
        const std::size_t before = found.size();
        look_into(path, found);
        std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
    }
    if (found.empty())
        throw BadData("no journals and no results there: measure first with espalier sweep, or name the files");
    return found;
}

Inspection inspect(const fs::path& path) {
    const bool results = fs::is_directory(path) || holds_one_device(path.parent_path());
    return results ? inspect_results(path) : inspect_journal(path);
}

std::vector<Finding> find_implausible(const Inspection& inspection) {
    std::vector<Finding> findings;
    for (const CaseRecord& record : inspection.cases) {
        const auto device = std::ranges::find_if(
            inspection.devices, [&](const DeviceInfo& known) { return known.key == record.provenance.device_key; });
        const auto why = implausible(record, device == inspection.devices.end() ? DeviceInfo{} : *device);
        if (why) findings.push_back({inspection.path, record.key(), "implausible: " + *why});
    }
    return findings;
}

}  // namespace espalier::bench
