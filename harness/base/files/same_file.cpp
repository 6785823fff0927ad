#include "harness/base/files/same_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <optional>
#include <utility>

#include "harness/base/files/replaced_file.hpp"
#include "harness/base/files/through_links.hpp"

namespace espalier::bench {
namespace {

/// Equal for all names of a file: device and inode, or the full path if it does not exist yet.
struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    std::string path;
    auto operator<=>(const Identity&) const = default;
};

std::optional<Identity> identity_of(const std::string& path, int standard_stream) {
    if (path.empty()) return std::nullopt;
    struct stat status {};
    const bool standard = path == kStandardStream;
    if ((standard ? fstat(standard_stream, &status) : stat(path.c_str(), &status)) == 0) {
        if (!S_ISREG(status.st_mode)) return std::nullopt;
        return Identity{status.st_dev, status.st_ino, {}};
    }
    return Identity{0, 0, through_links(path).value_or(path)};
}

std::string in_words(const NamedFile& file) {
    if (file.path == kStandardStream && file.option.empty()) return "the standard output";
    return file.option.empty() ? "'" + file.path + "'" : file.option + " '" + file.path + "'";
}

}  // namespace

void refuse_same_files(const std::vector<NamedFile>& outputs, const std::vector<NamedFile>& inputs) {
    std::map<Identity, std::string> known;
    const auto refuse = [](const NamedFile& output, const std::string& other) {
        throw SameFile(in_words(output) + " is the same file as " + other +
                       ", which it would destroy: name another file");
    };
    for (const NamedFile& input : inputs)
        if (const auto file = identity_of(input.path, STDIN_FILENO))
            known.emplace(*file, "the input " + in_words(input));
    const NamedFile standard_output{"", std::string(kStandardStream)};
    if (const auto file = identity_of(standard_output.path, STDOUT_FILENO); file && known.contains(*file))
        refuse(standard_output, known.at(*file));
    for (const NamedFile& output : outputs) {
        const auto file = identity_of(output.path, STDOUT_FILENO);
        if (!file) continue;
        const auto [other, added] = known.emplace(*file, "the output " + in_words(output));
        if (!added) refuse(output, other->second);
    }
}

}  // namespace espalier::bench
