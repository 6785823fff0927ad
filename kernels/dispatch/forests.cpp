#include "kernels/dispatch/forests.hpp"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "kernels/core/printable.hpp"
#include "kernels/json/regular_file.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr const char* kForestsVariable = "ESPALIER_FORESTS";
constexpr std::size_t kMostIgnored = 64;

struct ForestPlaces {
    std::mutex reading;  ///< taken before the other one
    std::mutex mutex;
    std::optional<std::string> folder;
    std::map<std::string, std::vector<std::string>, std::less<>> ignored;  ///< by family
};

/// Never destroyed: other threads may decide while the program ends.
ForestPlaces& places() {
    static ForestPlaces& all = *new ForestPlaces;
    return all;
}

void release_after_fork() {
    places().mutex.unlock();
    places().reading.unlock();
}

// A child that is forked while another thread holds them could never take them.
[[maybe_unused]] const int watching_forks_of_forests = pthread_atfork(
    [] {
        places().reading.lock();
        places().mutex.lock();
    },
    release_after_fork, release_after_fork);

/// share/espalier/forests of the prefix that the library, or the program that it is part of, is installed in.
std::string installed_folder() {
    std::vector<fs::path> files;
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&set_forest_folder), &info) != 0 && info.dli_fname)
        files.emplace_back(info.dli_fname);
    std::error_code none;
    files.push_back(fs::read_symlink("/proc/self/exe", none));
    for (const fs::path& file : files)
        for (const char* up : {"..", "../.."})  // lib/, or lib/<architecture>/
            if (fs::path folder = file.parent_path() / up / "share/espalier/forests";
                !file.parent_path().empty() && fs::is_directory(folder, none))
                return folder.string();
    return {};
}

std::string folder_of_environment() {
    const char* const folder = std::getenv(kForestsVariable);
    return folder ? folder : installed_folder();
}

}  // namespace

std::mutex& detail::forest_mutex() { return places().reading; }

void set_forest_folder(std::string folder) {
    const std::lock_guard lock(places().mutex);
    places().folder = std::move(folder);
}

std::string ignored_forests(std::string_view family) {
    const std::lock_guard lock(places().mutex);
    const auto at = places().ignored.find(family);
    std::string lines;
    if (at == places().ignored.end()) return lines;
    for (const std::string& line : at->second) lines.append(lines.empty() ? "" : "\n").append(line);
    return lines;
}

std::string detail::forest_path(std::string_view family, std::string_view device_key, std::string_view tree_file) {
    if (!tree_file.empty()) return fs::path(tree_file).replace_extension(".forest").string();
    const std::lock_guard lock(places().mutex);
    if (!places().folder) places().folder = folder_of_environment();
    if (places().folder->empty()) return {};
    return (fs::path(*places().folder) / family / (std::string(device_key) + ".forest")).string();
}

std::optional<ForestFile> detail::forest_in(const std::string& path, std::string_view family,
                                            std::string_view device_key, std::string_view data_sha256) {
    if (path.empty()) return std::nullopt;
    const auto bytes = read_regular_file_if_there(path, ForestFile::kMostBytes);
    if (!bytes) return std::nullopt;
    ForestFile file = read_forest(*bytes);
    if (file.family != family || file.device_key != device_key)
        throw BadData("it is of " + file.family + " on " + file.device_key + ": copy the right one there");
    if (file.data_sha256 != data_sha256)
        throw BadData(
            "it was not trained from the data of the tree: run `espalier train --forests` again, or take both"
            " from one place");
    return file;
}

void detail::ignore_forest(std::string_view family, const std::string& why) {
    const std::lock_guard lock(places().mutex);
    auto& lines = places().ignored[std::string(family)];
    if (lines.size() < kMostIgnored) lines.push_back(printable_lines(why));
}

}  // namespace espalier
