#pragma once

#include <cstddef>
#include <string>

namespace espalier {

/// How far a sweep is, on stderr: a line that is rewritten on a terminal, else a line every 30 seconds.
class ProgressLine {
public:
    ProgressLine(bool quiet, std::size_t problems, double max_seconds);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    /// `what` is being worked on; `done` problems are finished.
    void update(std::size_t done, const std::string& what);
    /// Any other line, for work that is not counted in problems.
    void show(const std::string& line);
    /// A line that stays, above the one that is rewritten.
    void say(const std::string& text);

private:
    [[nodiscard]] bool is_due();
    void put(std::string text);
    void erase();
    [[nodiscard]] std::string line(std::size_t done, const std::string& what) const;

    bool quiet_, terminal_;
    std::size_t problems_;
    double max_seconds_, start_, last_ = 0;
    bool shown_ = false;
};

/// "3 min 05 s"
std::string duration(double seconds);

}  // namespace espalier
