#include "kernels/json/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "kernels/json/bad_data.hpp"

namespace espalier {
namespace {

constexpr const char* kNoFile = "it is neither a file nor a folder but a pipe, a device or a socket: give a file";

[[noreturn]] void refuse(int error) {
    if (error == ENOMEM) throw std::bad_alloc();
    if (error == ENOENT || error == ENOTDIR) throw BadData("there is no such file or folder: check the path");
    if (error == ENXIO) throw BadData(kNoFile);  // a socket, or a device without a driver
    if (error == ELOOP) throw BadData("its symbolic links lead in a circle: remove them");
    if (error == EACCES || error == EPERM) throw BadData("it cannot be read: look at its permissions");
    throw BadData(std::string("it cannot be read: ") + std::strerror(error) + ": check the path");
}

[[noreturn]] void refuse_size(std::size_t most) {
    const bool mebibytes = most >= (std::size_t{1} << 20);
    throw BadData("it is larger than " + std::to_string(mebibytes ? most >> 20 : most) +
                  (mebibytes ? " MiB" : " bytes") + ", as no file of its kind is: check the path");
}

/// The descriptor, or -1 and errno. Nothing is waited for, and no terminal takes the process for its own.
int open_to_read(const std::filesystem::path& path) {
    int descriptor = -1;
    do {
        descriptor = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    } while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

}  // namespace

RegularFile::RegularFile(const std::filesystem::path& path) : descriptor_(open_to_read(path)) {
    if (descriptor_ < 0) refuse(errno);
    struct stat status {};
    const int error = fstat(descriptor_, &status) == 0 ? 0 : errno;
    if (error == 0 && S_ISREG(status.st_mode)) {
        bytes_ = static_cast<std::uint64_t>(status.st_size);
        return;
    }
    close(descriptor_);
    if (error != 0) refuse(error);
    throw BadData(S_ISDIR(status.st_mode) ? "it is a folder: give a file" : kNoFile);
}

RegularFile::~RegularFile() {
    if (descriptor_ >= 0) close(descriptor_);
}

std::size_t RegularFile::read(char* to, std::size_t most) {
    while (true) {
        const ssize_t got = ::read(descriptor_, to, most);
        if (got >= 0) return static_cast<std::size_t>(got);
        if (errno != EINTR) refuse(errno);
    }
}

int RegularFile::release() {
    const int descriptor = descriptor_;
    descriptor_ = -1;
    return descriptor;
}

std::string read_regular_file(const std::filesystem::path& path, std::size_t most) {
    RegularFile file(path);
    if (file.bytes() > most) refuse_size(most);
    // Room for one more byte than it should have: it may grow meanwhile, and files of /proc have no size.
    std::string text;
    std::size_t used = 0;
    for (std::size_t room = static_cast<std::size_t>(file.bytes()) + 1;; room = std::max<std::size_t>(2 * room, 4096)) {
        text.resize(std::min(room, most + 1));
        std::size_t got = 1;
        while (used < text.size() && (got = file.read(text.data() + used, text.size() - used)) > 0) used += got;
        if (used > most) refuse_size(most);
        if (got == 0) break;
    }
    text.resize(used);
    return text;
}

std::optional<std::string> read_regular_file_if_there(const std::filesystem::path& path, std::size_t most) {
    std::error_code error;
    // A link that leads nowhere is no file either; one that cannot be followed is a fault that reading tells.
    if (std::filesystem::status(path, error).type() == std::filesystem::file_type::not_found) return std::nullopt;
    return read_regular_file(path, most);
}

}  // namespace espalier
