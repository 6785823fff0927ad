#include "harness/cli/measured_devices.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/failure.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/bench/judge/choices.hpp"

namespace espalier::bench::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResults = "results";
constexpr const char* kLocal = "results/local";

std::vector<std::string> keys_in(const fs::path& results) {
    std::vector<std::string> keys;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(results, none))
        if (fs::exists(entry.path() / "device.json", none)) keys.push_back(entry.path().filename().string());
    std::ranges::sort(keys);
    return keys;
}

/// Where training put the trees of these results, also of a repository that lies elsewhere.
fs::path trained_trees(const fs::path& results) {
    fs::path folder = fs::absolute(results).lexically_normal();
    if (!folder.has_filename()) folder = folder.parent_path();
    std::error_code none;
    const fs::path committed = folder.parent_path() / "kernels/selectors";
    return folder.filename() == kResults && fs::is_directory(committed, none) ? committed : selectors_of(results);
}

}  // namespace

std::string results_to_write(const std::string& named) {
    std::error_code none;
    if (!named.empty()) return named;
    return fs::exists(fs::path(kResults) / "evidence.json", none) ? kLocal : kResults;
}

std::string results_to_read(const std::string& named) {
    if (!named.empty()) return named;
    return keys_in(kLocal).empty() ? kResults : kLocal;
}

std::string results_to_read(const std::string& named, const std::vector<std::string>& devices) {
    const std::vector<std::string> local = keys_in(kLocal);
    const bool all = std::ranges::all_of(devices, [&](const auto& key) { return std::ranges::count(local, key) > 0; });
    return named.empty() && !all ? kResults : results_to_read(named);
}

bool is_own(const fs::path& results) { return results.lexically_normal() == kLocal; }

fs::path selectors_of(const fs::path& results) {
    return results.lexically_normal() == kResults ? fs::path("kernels/selectors") : results / "selectors";
}

void choose_by_trees_of(const fs::path& results, const std::vector<std::string>& devices) {
    for (const std::string& why : learn::load_trees_of(trained_trees(results), devices))
        to_stderr("espalier: a tree is not loaded: {}\n", printable(why, 4096));
}

std::vector<std::string> device_keys(const fs::path& results, const std::vector<std::string>& wanted) {
    const std::vector<std::string> known = keys_in(results);
    for (const std::string& key : wanted)
        if (!std::ranges::count(known, key))
            throw Failure(ExitCode::bad_data, results.string() + " has no results of " + key + ", only of " +
                                                  listed_devices(results) +
                                                  ": measure them with espalier sweep, or give --results");
    if (known.empty())
        throw Failure(ExitCode::bad_data, results.string() + " holds no results: measure first with espalier sweep");
    return wanted.empty() ? known : wanted;
}

std::string listed_devices(const fs::path& results) {
    const std::vector<std::string> keys = keys_in(results);
    return keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace espalier::bench::cli
