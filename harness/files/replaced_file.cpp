#include "harness/files/replaced_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(int error = errno) { throw std::system_error(error, std::generic_category()); }

/// The file that a path leads to through symbolic links; the path itself if it does not exist yet.
std::string resolved(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return error ? path : real.string();
}

std::string temporary_name(const std::string& target) {
    static std::atomic<unsigned> count{0};
    const fs::path path(target);
    std::string name(".");
    name +=
        path.filename().string() + "." + std::to_string(getpid()) + "." + std::to_string(count.fetch_add(1)) + ".tmp";
    return (path.parent_path() / name).string();
}

/// What this process printed so far comes first.
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

ReplacedFile::ReplacedFile(const std::string& path) : target_(resolved(path)) {
    struct stat status {};
    const bool standard = path == kStandardStream;
    const bool exists = !standard && stat(target_.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) fail(EISDIR);
    if (standard || (exists && !S_ISREG(status.st_mode))) {
        file_.reset(standard ? standard_output() : std::fopen(target_.c_str(), "wbe"));
        if (!file_) fail();
        return;
    }
    temporary_ = std::make_unique<TemporaryName>(temporary_name(target_));
    // The user's umask decides.
    const int descriptor = temporary_->create(0666);
    if (descriptor < 0) fail();
    if (exists) static_cast<void>(fchmod(descriptor, status.st_mode & 07777));
    file_.reset(fdopen(descriptor, "wb"));
    if (!file_) fail();
}

void ReplacedFile::write(std::string_view data) {
    if (std::fwrite(data.data(), 1, data.size(), file_.get()) != data.size()) fail();
}

void ReplacedFile::commit() {
    if (std::ferror(file_.get())) fail(EIO);
    if (std::fflush(file_.get()) != 0) fail();
    // The data must be on the disk before the name is: a crash after the rename would leave an empty file.
    if (temporary_ && fsync(fileno(file_.get())) != 0) fail();
    if (std::fclose(file_.release()) != 0) fail();
    if (!temporary_) return;
    if (!temporary_->rename_to(target_)) fail();
    flush_folder_of(target_);
}

}  // namespace espalier::bench
