#include "harness/bench/report/page.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <system_error>

#include "harness/base/files/installed.hpp"
#include "harness/base/files/started_program.hpp"
#include "harness/base/text/printable.hpp"

namespace espalier::bench::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPackages = "apt-get install python3 python3-jinja2";

/// A script beside the sources that this program was built from, or beside the installed program.
fs::path find_script(const char* name) {
    std::error_code ignored;
    if (const char* folder = std::getenv("ESPALIER_PLOTS")) {
        if (fs::exists(fs::path(folder) / name, ignored)) return fs::path(folder) / name;
        throw PageError("ESPALIER_PLOTS is '" + printable(folder) + "', where there is no " + name +
                            ": set it to the folder plots/ of the sources, or unset it",
                        false);
    }
    const fs::path script =
        find_installed(fs::path("share/espalier/plots") / name, fs::path(ESPALIER_PLOTS_DIR) / name);
    if (!script.empty()) return script;
    throw PageError("the scripts of the pages are in neither " ESPALIER_PLOTS_DIR
                    " nor ../share/espalier/plots: set ESPALIER_PLOTS to the folder plots/ of the sources",
                    false);
}

/// Debian's own Python, which apt gives its packages to; another one on the PATH lacks them.
std::string find_python() {
    if (const char* python = std::getenv("ESPALIER_PYTHON")) return python;
    return "/usr/bin/python3";
}

/// A file without a name that holds `text`, to be read from its start.
class Unnamed {
public:
    explicit Unnamed(const std::string& text) : file_(memfd_create("input", MFD_CLOEXEC)) {
        std::size_t done = 0;
        while (file_ >= 0 && done < text.size()) {
            const ssize_t wrote = write(file_, text.data() + done, text.size() - done);
            if (wrote < 0 && errno != EINTR) break;
            if (wrote > 0) done += static_cast<std::size_t>(wrote);
        }
        if (done < text.size() || lseek(file_, 0, SEEK_SET) != 0)
            throw PageError("what the page shows does not fit into memory: compare fewer cases", false);
    }
    ~Unnamed() {
        if (file_ >= 0) close(file_);
    }
    Unnamed(const Unnamed&) = delete;
    Unnamed& operator=(const Unnamed&) = delete;
    [[nodiscard]] int descriptor() const { return file_; }

private:
    int file_;
};

/// Runs a page's writer to its end, its stdout to /dev/null if `quiet`, its stdin from `input` or /dev/null. Returns
/// the exit code, 128 + the signal's number for a killed one, and throws if it cannot be started.
int run(const std::vector<std::string>& command, bool quiet, const Unnamed* input = nullptr) {
    const ProgramEnd end =
        run_to_end({.words = command,
                    .input = input ? input->descriptor() : -1,
                    .output = quiet ? ProgramCall::Output::discarded : ProgramCall::Output::inherited});
    if (end.error != 0)
        throw PageError(command[0] + " cannot be started (" + std::strerror(end.error) + "): " + kPackages +
                            ", or set ESPALIER_PYTHON to a Python that has jinja2",
                        false);
    return end.code;
}

/// Throws if what writes a page or figures did not end well.
void expect_written(int code, const std::string& writer = "the page's writer", const std::string& needs = kPackages) {
    constexpr int kBadData = 4;  // as the command line's own
    if (code == kBadData) throw PageError("nothing was written; the reason is above", true);
    if (code != 0)
        throw PageError(
            writer + " ended with code " + std::to_string(code) + "; its message is above. It needs: " + needs, false);
}

}  // namespace

fs::path write_page(const PageOptions& options) {
    std::vector<std::string> command{
        find_python(), find_script("report.py").string(), "--results", options.results.string(),
        "--exports",   options.exports.string(),          "--output",  options.output.string()};
    for (const std::string& device : options.devices) command.insert(command.end(), {"--device", device});
    if (options.published) command.emplace_back("--published");
    expect_written(run(command, options.quiet));
    return options.output / (options.published ? "published.html" : "index.html");
}

void write_figures(const FigureOptions& options) {
    expect_written(run({find_python(), find_script("draw.py").string(), "--results", options.results.string(),
                        "--exports", options.exports.string(), "--output", options.output.string(), "--device",
                        options.device, "--format", options.format},
                       options.quiet),
                   "the figures' script", "apt-get install python3 python3-matplotlib");
}

std::vector<fs::path> files_of_figures(const fs::path& output, const std::string& format) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(output)) {
        const fs::path& path = entry.path();
        if (path.extension() == "." + format && fs::exists(fs::path(path).replace_extension(".txt")))
            found.push_back(path);
    }
    std::ranges::sort(found);
    return found;
}

void write_comparison_page(const std::string& json, const std::string& before, const std::string& after,
                           const fs::path& output) {
    const Unnamed input(json);
    expect_written(run({find_python(), find_script("compare.py").string(), "--before=" + before, "--after=" + after,
                        "--output", output.string()},
                       true, &input));
}

}  // namespace espalier::bench::report
