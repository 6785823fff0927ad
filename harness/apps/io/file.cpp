#include "harness/apps/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

File open_for_reading(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0)
        throw BadFile(path, errno == ENOENT ? "no such file; check the path"
                                            : std::string("cannot be read: ") + std::strerror(errno));
    if (S_ISDIR(status.st_mode)) throw BadFile(path, "is a folder; name a file in it");
    File file(std::fopen(path.c_str(), "rb"));
    if (!file) throw BadFile(path, std::string("cannot be read: ") + std::strerror(errno));
    return file;
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(resolved(path)) {
    struct stat status {};
    const bool exists = stat(target_.c_str(), &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) throw BadFile(path_, "is a folder; name a file in it");
    if (exists && !S_ISREG(status.st_mode)) {
        file_.reset(std::fopen(target_.c_str(), "wb"));
        if (!file_) fail("cannot be written");
        return;
    }
    const std::string name = temporary_name(target_);
    // Mode 0666 lets the user's umask decide, which mkstemp's 0600 would not.
    const int descriptor = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) fail("cannot be written");
    temporary_ = name;
    if (exists) static_cast<void>(fchmod(descriptor, status.st_mode & 07777));
    file_.reset(fdopen(descriptor, "wb"));
    if (!file_) fail("cannot be written");
}

AtomicFile::~AtomicFile() {
    if (temporary_.empty()) return;
    file_.reset();
    unlink(temporary_.c_str());
}

void AtomicFile::write(std::string_view data) {
    if (std::fwrite(data.data(), 1, data.size(), file_.get()) != data.size()) fail("writing failed");
}

void AtomicFile::commit() {
    if (std::ferror(file_.get()) || std::fflush(file_.get()) != 0) fail("writing failed");
    // The data must be on the disk before the name is: a crash after the rename would leave an empty file.
    if (!temporary_.empty() && fsync(fileno(file_.get())) != 0) fail("writing failed");
    if (std::fclose(file_.release()) != 0) fail("writing failed");
    if (temporary_.empty()) return;
    if (std::rename(temporary_.c_str(), target_.c_str()) != 0) fail("cannot be replaced");
    temporary_.clear();
}

void AtomicFile::fail(const char* what) const {
    throw BadFile(path_, std::string(what) + ": " + std::strerror(errno) +
                             (errno == ENOSPC   ? "; free some space or write elsewhere"
                              : errno == ENOENT ? "; create the folder first"
                                                : "; choose a place that can be written"));
}

}  // namespace espalier::bench::io
