#include "harness/base/files/replaced_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>

#include "harness/base/files/through_links.hpp"

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(int error = errno) { throw std::system_error(error, std::generic_category()); }

/// Beside the target, so that it can be renamed, and with random letters: a name that could be told beforehand somebody
/// else could take first.
std::string temporary_name(const std::string& target) {
    constexpr std::size_t kLongest = 200;  // of a name's 255 bytes
    std::uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) fail();
    const fs::path path(target);
    std::string name(".");
    name += path.filename().string().substr(0, kLongest) + "." + fmt::format("{:016x}", random) + ".tmp";
    return (path.parent_path() / name).string();
}

/// Flushes stdout, because the output of this process so far comes first.
std::FILE* standard_output() {
    std::fflush(stdout);
    const int copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    return copy < 0 ? nullptr : fdopen(copy, "wb");
}

/// Without this a power cut may forget the rename.
void flush_folder_of(const std::string& file) {
    const fs::path folder = fs::path(file).parent_path();
    const int directory = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    fsync(directory);
    close(directory);
}

}  // namespace

ReplacedFile::ReplacedFile(const std::string& path, Special special) {
    struct stat status {};
    const bool standard = path == kStandardStream;
    const bool exists = !standard && stat(path.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
    if (exists && !S_ISREG(status.st_mode) && special == Special::refused) fail(EEXIST);
    const auto target = standard ? std::nullopt : through_links(path);
    // A file without a name of its own, such as /dev/stdout of a deleted file, cannot be replaced either.
    if (standard || (exists && (!S_ISREG(status.st_mode) || !target))) {
        file_.reset(standard ? standard_output() : std::fopen(path.c_str(), "wbe"));
        if (!file_) fail();
        return;
    }
    if (!target) fail(ELOOP);
    target_ = *target;
    const int descriptor = create_temporary();
    if (exists) static_cast<void>(fchmod(descriptor, status.st_mode & 07777));
    file_.reset(fdopen(descriptor, "wb"));
    if (!file_) fail();
}

int ReplacedFile::create_temporary() {
    constexpr int kTrials = 100;
    for (int trial = 1;; ++trial) {
        temporary_ = std::make_unique<TemporaryName>(temporary_name(target_));
        const int descriptor = temporary_->create(0666);  // the user's umask decides
        if (descriptor >= 0) return descriptor;
        if (errno != EEXIST || trial == kTrials) fail();
    }
}

void ReplacedFile::write(std::string_view data) {
    if (std::fwrite(data.data(), 1, data.size(), file_.get()) != data.size()) fail();
}

void ReplacedFile::commit() {
    write_out();
    if (std::fclose(file_.release()) != 0) fail();
    take_name();
}

void ReplacedFile::publish() {
    write_out();
    take_name();
}

void ReplacedFile::write_out() {
    if (std::ferror(file_.get())) fail(EIO);
    if (std::fflush(file_.get()) != 0) fail();
    // The data must be on the disk before the name is: a crash after the rename would leave an empty file.
    if (temporary_ && fsync(fileno(file_.get())) != 0) fail();
}

void ReplacedFile::take_name() {
    if (!temporary_) return;
    if (!temporary_->rename_to(target_)) fail();
    temporary_.reset();  // what is written from now on is in the file itself
    flush_folder_of(target_);
}

}  // namespace espalier::bench
