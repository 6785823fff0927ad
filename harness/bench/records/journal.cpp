#include "harness/bench/records/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "harness/bench/records/case_lines.hpp"
#include "harness/bench/records/codec.hpp"
#include "harness/bench/records/lines.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/checked_json.hpp"
#include "kernels/json/names.hpp"

namespace espalier::bench {
namespace {

nlohmann::ordered_json encode(const PlanRecord& plan) {
    auto items = nlohmann::ordered_json::array();
    for (const auto& item : plan.items)
        items.push_back({{"family", item.family}, {"problem", item.problem}, {"cases", item.cases}});
    return {{"session", plan.session}, {"device_key", plan.device_key}, {"plan", plan.plan},
            {"shard", plan.shard},     {"shards", plan.shards},         {"items", std::move(items)}};
}

PlanRecord decode_plan(const nlohmann::json& body) {
    Fields fields(body, "plan");
    PlanRecord plan;
    plan.session = fields.text("session", 64);
    plan.device_key = fields.word("device_key", "-_.");
    if (const char* why = wrong_device_key(plan.device_key)) fields.refuse("device_key", why);
    plan.plan = fields.word("plan");
    plan.shards = static_cast<int>(fields.whole("shards", 1, 1'000'000));
    plan.shard = static_cast<int>(fields.whole("shard", 1, plan.shards));
    for (const auto& entry : fields.array("items", 1'000'000)) {
        Fields item(entry, "plan item");
        plan.items.push_back({item.word("family"), item.word("problem", "_=;.-", 1024), item.whole("cases")});
        if (const char* why = wrong_family_name(plan.items.back().family)) item.refuse("family", why);
        item.done();
    }
    fields.done();
    return plan;
}

[[noreturn]] void refuse(const std::filesystem::path& path, const char* what, int error) {
    const char* fix = ": check its folder's permissions, or choose another with --output";
    if (error == ENOSPC || error == EDQUOT || error == EFBIG) fix = ": free some space and run again with --resume";
    if (error == ELOOP)
        throw BadData(std::string(what) + " " + path.string() +
                      ": it is a symbolic link, and a journal is not written through one: remove the link, or choose "
                      "the folder that it leads to with --output");
    throw BadData(std::string(what) + " " + path.string() + ": " + std::strerror(error) + fix);
}

/// Holds the advisory lock that all writers of a journal take.
class Lock {
public:
    explicit Lock(int file) : file_(file) {
        while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
        }
    }
    ~Lock() { flock(file_, LOCK_UN); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

private:
    int file_;
};

bool ends_without_newline(int file, off_t size) {
    char last = '\n';
    return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

void add_record(Journal& journal, Sealed sealed) {
    if (sealed.kind == "case")
        std::ranges::move(decode_cases(std::move(sealed.body)), std::back_inserter(journal.cases));
    else if (sealed.kind == "plan")
        journal.plans.push_back(decode_plan(sealed.body));
    else if (sealed.kind == "device")
        journal.devices.push_back(decode_device(sealed.body));
    else
        throw BadData("a record of an unknown kind");
}

/// A file that is no journal at all may hold a damaged line every three bytes: beyond so many they are counted
/// together, or reporting them would need far more memory than the file.
constexpr std::size_t kMostDamage = 10'000;

/// Of these reading a file costs time and nothing else.
constexpr std::size_t kMostDamagedLines = 1'000'000;

bool is_torn(std::string_view line) { return line.starts_with("{\"schema\":\"espalier.") && !line.ends_with("\"}"); }

void add_damage(Journal& journal, const Line& line, const char* reason) {
    ++(is_torn(line.text) ? journal.torn : journal.damaged);
    if (journal.damage.size() < kMostDamage) {
        journal.damage.push_back({line.offset, line.bytes, reason});
        return;
    }
    journal.damage.back().bytes += line.bytes;
    journal.damage.back().reason = "this and everything damaged after it";
}

}  // namespace

JournalWriter::JournalWriter(const std::filesystem::path& path) : path_(path) {
    std::error_code ignored;  // opening the file reports what went wrong
    if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), ignored);
    // Whoever may write to the folder could lead what is appended into any other file of ours by a link.
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0644);
    if (file_ < 0) refuse(path_, "cannot open the journal", errno);
    struct stat status {};
    if (fstat(file_, &status) == 0 && S_ISREG(status.st_mode)) return;
    close(file_);
    throw BadData("cannot open the journal " + path_.string() +
                  ": it is no file: remove it, or choose another folder with --output");
}

JournalWriter::~JournalWriter() { close(file_); }

void JournalWriter::append(std::span<const CaseRecord> records) {
    std::string lines;
    for (const CaseRecord& record : records) lines += seal("case", espalier::bench::encode(record)) + '\n';
    append_lines(std::move(lines));
}

void JournalWriter::append(const PlanRecord& plan) { append_lines(seal("plan", encode(plan)) + '\n'); }

void JournalWriter::append(const DeviceInfo& device) {
    append_lines(seal("device", espalier::bench::encode(device)) + '\n');
}

void JournalWriter::append_lines(std::string lines) {
    if (lines.empty()) return;
    const Lock lock(file_);
    struct stat status {};
    if (fstat(file_, &status) != 0) refuse(path_, "cannot read the journal", errno);
    // A writer that was killed may have left part of a line: end it, or it would spoil the next record.
    if (ends_without_newline(file_, status.st_size)) lines.insert(0, 1, '\n');
    std::size_t done = 0;
    while (done < lines.size()) {
        const ssize_t written = write(file_, lines.data() + done, lines.size() - done);
        if (written >= 0) {
            done += static_cast<std::size_t>(written);
        } else if (errno != EINTR) {
            const int error = errno;
            if (ftruncate(file_, status.st_size) != 0) refuse(path_, "cannot discard a failed write to", errno);
            refuse(path_, "cannot append to the journal", error);
        }
    }
    if (fdatasync(file_) != 0) refuse(path_, "cannot flush the journal", errno);
}

Journal load_journal(const std::filesystem::path& path) {
    Journal journal;
    const Seals seals = seals_of(path);
    for_each_line(path, [&](const Line& line) {
        if (line.bytes == 0) return;
        ++journal.lines;
        const char* why = line.overlong ? "a line longer than any record" : broken_seal(line.text, seals);
        if (why) {
            add_damage(journal, line, why);
            if (journal.damaged + journal.torn > kMostDamagedLines)
                throw BadData(path.string() + ": over a million of its lines are no records: it is no journal");
            return;
        }
        try {
            add_record(journal, unseal(line.text, seals));
        } catch (const NewerSchema& error) {
            throw NewerSchema(path.string() + ", byte " + std::to_string(line.offset) + ": " + error.what());
        } catch (const BadData& error) {
            add_damage(journal, line, error.what());
        }
    });
    return journal;
}

}  // namespace espalier::bench
