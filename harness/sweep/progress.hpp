#pragma once

#include <functional>
#include <mutex>
#include <string>

namespace espalier::bench {

/// How far something is, on stderr: a line that is rewritten on a terminal, else a line every 30 seconds. Any thread
/// may call any function.
class ProgressLine {
public:
    explicit ProgressLine(bool quiet);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// The line is now this one; a function is asked for it only if it is due.
    void show(const std::string& line);
    void show(const std::function<std::string()>& line);
    /// A line that stays, above the one that is rewritten.
    void say(const std::string& text);
    /// The same for an error, which quiet ones show, too.
    void complain(const std::string& text);

private:
    [[nodiscard]] bool is_due();
    void put(std::string text);
    void erase();

    std::mutex mutex_;
    bool quiet_, terminal_;
    double last_;
    bool shown_ = false;
};

/// "3 min 05 s"
std::string duration(double seconds);

}  // namespace espalier::bench
