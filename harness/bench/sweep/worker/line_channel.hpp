#pragma once

#include <optional>
#include <string>

namespace espalier::bench {

/// Messages over one end of a socket pair, each a line: how a sweep and its worker frame what they say to each other.
class LineChannel {
public:
    /// `file` is this end's descriptor, which may be non-blocking, and is closed by whoever opened it.
    explicit LineChannel(int file) : file_(file) {}

    [[nodiscard]] int file() const { return file_; }

    /// Sends a message without newlines, waiting for room. False if the other end is gone.
    bool send(const std::string& message) const;

    /// Reads what has arrived, waiting for it if the descriptor blocks. False if the other end is closed and all that
    /// it had sent has been read.
    bool receive();

    /// The next whole message of what was received, if there is one.
    std::optional<std::string> take();

private:
    int file_;
    std::string received_;
};

}  // namespace espalier::bench
