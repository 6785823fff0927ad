#include "harness/apps/io/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
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

AtomicFile::AtomicFile(const std::string& path) : path_(path) {
    attempt("cannot be written", [&] { file_ = std::make_unique<ReplacedFile>(path); });
}

void AtomicFile::write(std::string_view data) {
    attempt("writing failed", [&] { file_->write(data); });
}

void AtomicFile::commit() {
    attempt("writing failed", [&] { file_->commit(); });
}

}  // namespace espalier::bench::io
