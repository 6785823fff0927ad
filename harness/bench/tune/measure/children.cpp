#include "harness/bench/tune/measure/children.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "harness/base/files/program_setup.hpp"

namespace espalier::bench::tune {

Child::Child(const std::vector<std::string>& words, std::filesystem::path output, int page)
    : output_(std::move(output)) {
    ProgramSetup setup;
    setup.open(STDIN_FILENO, "/dev/null", O_RDONLY);
    setup.open(STDOUT_FILENO, output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    setup.copy(STDOUT_FILENO, STDERR_FILENO);
    if (page >= 0) setup.copy(page, kPageFile);
    setup.stand_apart();
    process_.emplace([&] { return setup.start(words, error_); });
    if (error_ == 0) return;
    ended_ = true;
    code_ = 127;
}

Child::~Child() {
    if (!ended_) kill();
}

bool Child::ended() {
    if (ended_) return true;
    int status = 0;
    const pid_t reaped = waitpid(process_->pid(), &status, WNOHANG);
    if (reaped == 0 || (reaped < 0 && errno == EINTR)) return false;
    ended_ = true;
    code_ = exit_code_of(status);
    return true;
}

void Child::kill() {
    if (ended_) return;
    ::kill(-process_->pid(), SIGKILL);  // with what it started
    while (waitpid(process_->pid(), nullptr, 0) < 0 && errno == EINTR) {
    }
    ended_ = true;
    code_ = 128 + SIGKILL;
}

std::string Child::how() const {
    if (error_ != 0) return "it cannot be started: " + std::generic_category().message(error_);
    std::string text = code_ > 128 ? "signal " + std::to_string(code_ - 128) + " (SIG" +
                                         std::string(sigabbrev_np(code_ - 128) ? sigabbrev_np(code_ - 128) : "?") + ")"
                                   : "exit status " + std::to_string(code_);
    const std::string said = end_of(output_, 2000);
    if (!said.empty()) text += ": " + said;
    return text;
}

WorkFolder::WorkFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "espalier-tune-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
        throw std::system_error(errno, std::generic_category(), "cannot make a temporary folder " + name);
    path_ = name;
}

WorkFolder::~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

void write_work_file(const std::filesystem::path& file, const std::string& content) {
    std::ofstream stream(file, std::ios::binary);
    stream.write(content.data(), static_cast<std::streamsize>(content.size())).flush();
    if (!stream) throw std::system_error(errno, std::generic_category(), "cannot write " + file.string());
}

std::string end_of(const std::filesystem::path& file, std::size_t most) {
    std::ifstream stream(file, std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(stream), {});
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    return text.size() > most ? "..." + text.substr(text.size() - most) : text;
}

}  // namespace espalier::bench::tune
