#pragma once

#include <functional>
#include <mutex>
#include <string>

namespace espalier::bench {

/// Where lines of progress are written.
enum class ShownOn {
    terminals,   ///< and nowhere else
    everything,  ///< in a file or pipe, a line every 30 seconds
};

/// How far something is, on stderr: a line that is rewritten on a terminal. Any thread may call any function.
class ProgressLine {
public:
    explicit ProgressLine(bool quiet, ShownOn where = ShownOn::everything);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// The line is now this one; a function is asked for it only if it is due.
    void show(const std::string& line);
    void show(const std::function<std::string()>& line);
    /// A line that stays, above the one that is rewritten.
    void say(const std::string& text);
    /// An error: a line like that of `say`, which a quiet one writes, too.
    void log_error(const std::string& text);

private:
    [[nodiscard]] bool is_due();
    void put(std::string text);
    void erase();

    std::mutex mutex_;
    bool quiet_, terminal_, shows_;
    double last_;
    bool shown_ = false;
};

/// "3 min 05 s"
std::string duration(double seconds);

/// "window 3 of 12, 6 s gone, 18 s left" of "window 3 of 12", a share of 0.25 and 6 seconds; nothing is said to be left
/// while the share that is done is not known, which 0 says.
std::string with_time_left(const std::string& what, double share, double seconds);

/// How far a command is with the user's data and how long it will take: on a terminal, and on no other stderr.
class RunProgress {
public:
    explicit RunProgress(bool quiet);

    /// `share` of everything is done; 0: nobody knows.
    void show(const std::string& what, double share);

private:
    ProgressLine line_;
    double start_;
};

}  // namespace espalier::bench
