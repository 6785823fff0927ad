#include "harness/records/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "harness/records/bad_data.hpp"

namespace espalier::bench {
namespace {

/// Closes the temporary file and removes it unless it was renamed away.
struct Temporary {
    std::string path;
    int file = -1;

    ~Temporary() {
        if (file >= 0) close(file);
        if (!path.empty()) unlink(path.c_str());
    }
};

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

void write_all(int file, std::string_view contents) {
    while (!contents.empty()) {
        const ssize_t written = write(file, contents.data(), contents.size());
        if (written < 0 && errno != EINTR) fail(errno);
        if (written > 0) contents.remove_prefix(static_cast<std::size_t>(written));
    }
}

/// Without this a power cut may forget the rename.
void flush_folder(const std::filesystem::path& folder) {
    const int directory = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return;
    fsync(directory);
    close(directory);
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view contents) {
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    try {
        std::error_code made;
        std::filesystem::create_directories(folder, made);
        if (made) fail(made.value());
        // In the same folder, so that the rename stays within one file system.
        std::string hidden(".");
        hidden += path.filename().string();
        hidden += ".XXXXXX";
        Temporary temporary{(folder / hidden).string()};
        temporary.file = mkostemp(temporary.path.data(), O_CLOEXEC);
        if (temporary.file < 0) {
            const int error = errno;
            temporary.path.clear();
            fail(error);
        }
        fchmod(temporary.file, 0644);
        write_all(temporary.file, contents);
        if (fsync(temporary.file) != 0) fail(errno);
        if (rename(temporary.path.c_str(), path.c_str()) != 0) fail(errno);
        temporary.path.clear();
        flush_folder(folder);
    } catch (const std::system_error& error) {
        throw BadData("cannot write " + path.string() + ": " + error.code().message() +
                      ": free some space, check the folder's permissions, or choose another folder");
    }
}

}  // namespace espalier::bench
