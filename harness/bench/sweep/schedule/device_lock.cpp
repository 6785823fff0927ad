#include "harness/bench/sweep/schedule/device_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>

namespace espalier::bench {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(int error, const std::string& what) {
    throw std::system_error(error, std::generic_category(), what);
}

/// Whether a folder is this user's own and no link, so that nobody else decides what lies in it.
bool is_own_folder(const fs::path& folder) {
    struct stat status {};
    return lstat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == geteuid();
}

std::optional<fs::path> session_folder() {
    const char* named = std::getenv("XDG_RUNTIME_DIR");
    for (const fs::path& folder : {fs::path(named ? named : ""), fs::path("/run/user") / std::to_string(geteuid())})
        if (folder.is_absolute() && is_own_folder(folder) && access(folder.c_str(), W_OK) == 0) return folder;
    return std::nullopt;
}

/// Locks bytes of a file for this process. Returns who has any of them already: 0 for a process that cannot be named
/// here, because it is in another namespace; nothing if the lock was taken.
std::optional<pid_t> holder(int file, off_t first, off_t count, const std::string& name) {
    for (;;) {
        struct flock lock {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first, .l_len = count, .l_pid = 0
        };
        if (fcntl(file, F_SETLK, &lock) == 0) return std::nullopt;
        if (errno == EINTR) continue;
        if (errno != EACCES && errno != EAGAIN) refuse(errno, "cannot lock " + name);
        if (fcntl(file, F_GETLK, &lock) != 0) refuse(errno, "cannot lock " + name);
        if (lock.l_type != F_UNLCK) return lock.l_pid;  // else it has ended meanwhile
    }
}

[[noreturn]] void refuse_to_share(const std::string& device, pid_t process) {
    const std::string who = process > 0 ? "process " + std::to_string(process) : "another process";
    throw DeviceInUse(device + " is being measured by " + who +
                      ": two sweeps at once disturb each other's times. Wait until it ends" +
                      (process > 0 ? ", stop it (kill " + std::to_string(process) + ")" : "") +
                      ", or measure all the same with --share-device");
}

}  // namespace

fs::path runtime_folder() {
    const auto session = session_folder();
    const fs::path folder = session ? *session / "espalier" : fs::path("/tmp/espalier-" + std::to_string(geteuid()));
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) refuse(errno, "cannot make " + folder.string());
    if (!is_own_folder(folder))
        refuse(EPERM, folder.string() + " is not this user's: set XDG_RUNTIME_DIR to a folder that is");
    return folder;
}

DeviceLock::~DeviceLock() {
    for (const int file : files_) close(file);
}

int DeviceLock::open_file(const std::string& name) {
    const fs::path path = folder_ / name;
    const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) refuse(errno, "cannot open " + path.string());
    files_.push_back(file);
    return file;
}

void DeviceLock::take_gpu(const std::string& uuid, const std::string& key) {
    if (const auto process = holder(open_file(uuid + ".lock"), 0, 0, uuid)) refuse_to_share(key, *process);
}

void DeviceLock::take_cpus(const std::vector<int>& cpus, const std::string& key) {
    const int file = open_file("cpus.lock");
    for (const int cpu : cpus)
        if (const auto process = holder(file, cpu, 1, "the processors")) refuse_to_share(key, *process);
}

}  // namespace espalier::bench
