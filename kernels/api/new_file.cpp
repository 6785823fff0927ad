#include "kernels/api/new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <random>

#include "kernels/json/bad_data.hpp"

namespace espalier {
namespace {

constexpr const char* kHex = "0123456789abcdef";

[[noreturn]] void refuse(const std::string& path, int error) {
    if (error == ENOMEM) throw std::bad_alloc();
    const std::string start = "'" + path + "' cannot be written: ";
    switch (error) {
        case ENOENT:
        case ENOTDIR: throw BadData(start + "there is no such folder: make it, or give another path");
        case EACCES:
        case EPERM: throw BadData(start + "look at the permissions of its folder");
        case ENOSPC:
        case EDQUOT: throw BadData(start + "the disk is full: free some of it, or give another path");
        case EROFS: throw BadData(start + "the file system is read-only: give another path");
        case ENAMETOOLONG: throw BadData(start + "its name is too long: give a shorter one");
        default: throw BadData(start + std::strerror(error) + ": give another path");
    }
}

/// Only a regular file may be replaced.
void refuse_others(const std::string& path) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) {
        if (errno == ENOENT) return;
        refuse(path, errno);
    }
    if (S_ISREG(status.st_mode)) return;
    const char* const is = S_ISLNK(status.st_mode)   ? "a symbolic link, which is not followed"
                           : S_ISDIR(status.st_mode) ? "a folder"
                                                     : "a pipe, a device or a socket";
    throw BadData("'" + path + "' cannot be written: it is " + is + ": give the path of a file");
}

std::string temporary_name(const std::string& path) {
    std::random_device random;
    std::string name = path + ".part-";
    for (int i = 0; i < 16; ++i) name += kHex[random() % 16];
    return name;
}

}  // namespace

NewFile::NewFile(const std::string& path) : path_(path) {
    if (path.empty() || path.find('\0') != std::string::npos)
        throw BadData("the path of a file to write is empty or has a NUL in it: give its name");
    refuse_others(path_);
    constexpr int kAttempts = 16;
    for (int i = 0; i < kAttempts && descriptor_ < 0; ++i) {
        temporary_ = temporary_name(path_);
        descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor_ < 0 && errno != EEXIST && errno != EINTR) refuse(path_, errno);
    }
    if (descriptor_ < 0) refuse(path_, EEXIST);
}

NewFile::~NewFile() {
    if (descriptor_ < 0) return;
    close(descriptor_);
    unlink(temporary_.c_str());
}

void NewFile::write(const void* data, std::size_t bytes) {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // some systems write no more at once
    const auto* from = static_cast<const char*>(data);
    while (bytes > 0) {
        const ssize_t written = ::write(descriptor_, from, std::min(bytes, kMost));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) refuse(path_, errno);
        from += written;
        bytes -= static_cast<std::size_t>(written);
    }
}

void NewFile::finish() {
    if (fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) refuse(path_, errno);
    refuse_others(path_);
    if (std::rename(temporary_.c_str(), path_.c_str()) != 0) refuse(path_, errno);
    close(descriptor_);
    descriptor_ = -1;
}

}  // namespace espalier
