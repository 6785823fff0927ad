#include "harness/base/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "harness/base/clock.hpp"
#include "harness/base/text/printable.hpp"
#include "harness/base/text/to_stderr.hpp"

namespace espalier::bench {
namespace {

constexpr double kTerminalSeconds = 0.2;
constexpr double kLogSeconds = 30;

bool is_terminal() {
    const char* kind = std::getenv("TERM");
    return isatty(STDERR_FILENO) && kind && std::string_view(kind) != "dumb";
}

std::size_t columns() {
    winsize size{};
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string duration(double seconds) {
    const auto whole = static_cast<long>(std::max(0.0, seconds) + 0.5);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string with_time_left(const std::string& what, double share, double seconds) {
    std::string text = fmt::format("{}, {} gone", what, duration(seconds));
    if (share > 0) text += fmt::format(", {} left", duration(seconds * std::max(0.0, 1 / share - 1)));
    return text;
}

RunProgress::RunProgress(bool quiet) : line_(quiet, ShownOn::terminals), start_(steady_seconds()) {}

void RunProgress::show(const std::string& what, double share) {
    line_.show([&] { return with_time_left(what, share, steady_seconds() - start_); });
}

ProgressLine::ProgressLine(bool quiet, ShownOn where)
    : quiet_(quiet),
      terminal_(is_terminal()),
      shows_(!quiet && (terminal_ || where == ShownOn::everything)),
      last_(steady_seconds()) {}

ProgressLine::~ProgressLine() { erase(); }

void ProgressLine::erase() {
    if (shown_) to_stderr_as_it_is("\r\x1b[K");
    shown_ = false;
}

void ProgressLine::say(const std::string& text) {
    if (!quiet_) log_error(text);
}

void ProgressLine::log_error(const std::string& text) {
    const std::lock_guard lock(mutex_);
    erase();
    to_stderr("{}\n", text);
}

void ProgressLine::show(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (is_due()) put(text);
}

void ProgressLine::show(const std::function<std::string()>& text) {
    const std::lock_guard lock(mutex_);
    if (is_due()) put(text());
}

bool ProgressLine::is_due() {
    const double now = steady_seconds();
    if (!shows_ || now - last_ < (terminal_ ? kTerminalSeconds : kLogSeconds)) return false;
    last_ = now;
    return true;
}

void ProgressLine::put(std::string text) {
    if (!terminal_) {
        to_stderr("{}\n", text);
        return;
    }
    // Plain text only: no colour, whatever NO_COLOR says.
    to_stderr_as_it_is("\r" + printable(text, columns() - 1) + "\x1b[K");
    std::fflush(stderr);
    shown_ = true;
}

}  // namespace espalier::bench
