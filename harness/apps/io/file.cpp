#include "harness/apps/io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "harness/apps/io/bad_file.hpp"

namespace espalier::bench::io {
namespace {

/// Another descriptor of the standard input: closing the file leaves it as it is.
File open_standard_input() {
    const int copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    File file(copy < 0 ? nullptr : fdopen(copy, "rb"));
    if (!file) throw BadFile("standard input", std::string("cannot be read: ") + std::strerror(errno));
    return file;
}

/// What to do about an error of writing.
const char* remedy(int error) {
    switch (error) {
        case ENOSPC: return "; free some space or write elsewhere";
        case ENOENT: return "; create the folder first";
        case EISDIR: return "; name a file in it";
        case EFBIG: return "; raise the limit of the size of files (ulimit -f), or write elsewhere";
        case EEXIST: return "; it is there and no regular file: name one";
        default: return "; choose a place that can be written";
    }
}

}  // namespace

File open_for_reading(const std::string& path) {
    if (path == kStandardStream) return open_standard_input();
    struct stat status {};
    if (stat(path.c_str(), &status) != 0)
        throw BadFile(path, errno == ENOENT ? "no such file; check the path"
                                            : std::string("cannot be read: ") + std::strerror(errno));
    if (S_ISDIR(status.st_mode)) throw BadFile(path, "is a folder; name a file in it");
    File file(std::fopen(path.c_str(), "rb"));
    if (!file) throw BadFile(path, std::string("cannot be read: ") + std::strerror(errno));
    return file;
}

std::string read_small(const std::string& path, std::size_t most, const std::string& what) {
    const File file = open_for_reading(path);
    std::string content;
    std::array<char, 1 << 16> chunk;
    while (const std::size_t got =
               std::fread(chunk.data(), 1, std::min(chunk.size(), most + 1 - content.size()), file.get()))
        content.append(chunk.data(), got);
    if (std::ferror(file.get())) throw BadFile(path, std::string("cannot be read: ") + std::strerror(errno));
    if (content.size() > most)
        throw BadFile(path, "has more than " + std::to_string(most) + " bytes: too large for " + what);
    return content;
}

template <class Action>
void AtomicFile::attempt(const char* what, Action&& action) const {
    try {
        action();
    } catch (const std::system_error& error) {
        const int code = error.code().value();
        throw BadFile(
            path_ == kStandardStream ? "standard output" : path_,
            std::string(code == EISDIR ? "cannot be written" : what) + ": " + std::strerror(code) + remedy(code));
    }
}

AtomicFile::AtomicFile(const std::string& path, ReplacedFile::Special special) : path_(path) {
    attempt("cannot be written", [&] { file_ = std::make_unique<ReplacedFile>(path, special); });
}

void AtomicFile::write(std::string_view data) {
    attempt("writing failed", [&] { file_->write(data); });
}

void AtomicFile::commit() {
    attempt("writing failed", [&] { file_->commit(); });
}

void AtomicFile::publish() {
    attempt("writing failed", [&] { file_->publish(); });
}

void AtomicFile::reserve(std::int64_t bytes) {
    const int file = fileno(stream());
    struct statvfs there {};
    if (fstatvfs(file, &there) == 0) {
        const double free = static_cast<double>(there.f_bavail) * static_cast<double>(there.f_frsize);
        if (static_cast<double>(bytes) > free)
            throw BadFile(path_, fmt::format("takes {:.6g} GB, and there are {:.6g} GB free; free some space or write "
                                             "elsewhere",
                                             static_cast<double>(bytes) * 1e-9, free * 1e-9));
    }
    attempt("cannot be made as long as it will be", [&] {
        if (fallocate(file, 0, 0, bytes) == 0) return;
        if (errno != EOPNOTSUPP && errno != ENOSYS) throw std::system_error(errno, std::generic_category());
        if (ftruncate(file, bytes) != 0) throw std::system_error(errno, std::generic_category());
    });
}

void AtomicFile::write_at(std::int64_t offset, std::string_view data) {
    attempt("writing failed", [&] {
        while (!data.empty()) {
            const ssize_t written = pwrite(fileno(stream()), data.data(), data.size(), offset);
            if (written < 0 && errno == EINTR) continue;
            if (written < 0) throw std::system_error(errno, std::generic_category());
            data.remove_prefix(static_cast<std::size_t>(written));
            offset += written;
        }
    });
}

void AtomicFile::begin_flushing() { sync_file_range(fileno(stream()), 0, 0, SYNC_FILE_RANGE_WRITE); }

}  // namespace espalier::bench::io
