#include "harness/bench/records/inspect.hpp"

#include <algorithm>
#include <set>

#include "harness/bench/records/case_lines.hpp"
#include "harness/bench/records/codec.hpp"
#include "harness/bench/records/journal.hpp"
#include "harness/bench/records/lines.hpp"
#include "harness/bench/records/results.hpp"
#include "harness/bench/records/roofline.hpp"
#include "kernels/json/bad_data.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

/// Whether anything has this name, a link that leads nowhere aside: what cannot be read is found when it is read.
bool is_there(const fs::path& path) {
    std::error_code none;
    return fs::status(path, none).type() != fs::file_type::not_found;
}

bool holds_one_device(const fs::path& folder) { return is_there(folder / "device.json"); }

bool is_folder(const fs::path& path) {
    std::error_code none;
    return fs::is_directory(path, none);
}

/// `seen` holds the folders that were looked into: links may lead back to one.
void look_into(const fs::path& path, std::vector<fs::path>& found, std::set<fs::path>& seen) {
    std::error_code none;
    const bool folder = is_folder(path);
    if (folder && !seen.insert(fs::canonical(path, none)).second) return;
    if (!folder || holds_one_device(path)) {
        found.push_back(path);
        if (const fs::path unseen = unseen_folder(path); holds_one_device(unseen)) found.push_back(unseen);
        return;
    }
    for (const auto& entry : fs::directory_iterator(path))
        if (is_folder(entry.path()) || !family_of_file(entry.path()).empty()) look_into(entry.path(), found, seen);
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
    } catch (const BadData& error) {
        inspection.findings.push_back({path, "", error.what()});
    }
    return inspection;
}

/// The lines of one file of a device's folder.
class ResultsFile {
public:
    ResultsFile(Inspection& inspection, fs::path path) : inspection_(inspection), path_(std::move(path)) {}

    void read() try {
        const Seals seals = seals_of(path_);
        for_each_line(path_, [&](const Line& line) {
            ++number_;
            try {
                if (line.overlong) throw BadData("longer than any record");
                take(unseal(line.text, seals));
            } catch (const BadData& error) {
                refuse(error.what());
            }
        });
        if (number_ == 0) refuse("is empty");
    } catch (const TooMuch&) {
    } catch (const BadData& error) {  // the file as a whole cannot be read
        inspection_.findings.push_back({path_, "", error.what()});
    }

private:
    /// Ends the reading of a file that has more wrong than anybody reads.
    struct TooMuch {};

    void take(Sealed sealed) {
        const bool cases = !family_of_file(path_).empty();
        if (sealed.kind != (cases ? "case" : path_.stem().string()))
            throw BadData("a record of another kind than the file's");
        if (sealed.kind == "device") inspection_.devices.push_back(decode_device(sealed.body));
        if (cases)
            for (CaseRecord& record : decode_cases(std::move(sealed.body))) take_case(std::move(record));
        else
            ++inspection_.records;
    }

    void take_case(CaseRecord record) {
        if (record.family != family_of_file(path_)) throw BadData("a case of another family than the file's");
        if (!inspection_.devices.empty() && record.provenance.device_key != inspection_.devices.front().key)
            throw BadData("a case of another device, " + record.provenance.device_key);
        if (!keys_.insert(record.key()).second) throw BadData("the case occurs twice");
        inspection_.cases.push_back(std::move(record));
        ++inspection_.records;
    }

    void refuse(const std::string& why) {
        constexpr std::size_t kMostFindings = 10'000;  // as many as of a journal
        const bool last = inspection_.findings.size() + 1 >= kMostFindings;
        inspection_.findings.push_back(
            {path_, "line " + std::to_string(number_), last ? why + "; what follows was not read" : why});
        if (last) throw TooMuch();
    }

    Inspection& inspection_;
    fs::path path_;
    std::set<std::string> keys_;
    int number_ = 0;
};

/// A device's folder, or one family's file of it.
Inspection inspect_results(const fs::path& path) {
    Inspection inspection{.path = path, .devices = {}, .cases = {}, .findings = {}};
    const bool whole = is_folder(path);
    const fs::path folder = whole ? path : path.parent_path();
    ResultsFile(inspection, folder / "device.json").read();
    std::vector<fs::path> files;
    if (!whole) files.push_back(path);
    if (whole && is_there(folder / "coverage.json")) files.push_back(folder / "coverage.json");
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
    std::set<fs::path> seen;
    for (const fs::path& path : paths) {
        if (!is_there(path)) throw BadData(path.string() + " is not there: check the path");
        const std::size_t before = found.size();
        look_into(path, found, seen);
        std::sort(found.begin() + static_cast<std::ptrdiff_t>(before), found.end());
    }
    if (found.empty())
        throw BadData("no journals and no results there: measure first with espalier sweep, or name the files");
    return found;
}

Inspection inspect(const fs::path& path) {
    const bool results = is_folder(path) || holds_one_device(path.parent_path());
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
