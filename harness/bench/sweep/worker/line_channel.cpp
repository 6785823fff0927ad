#include "harness/bench/sweep/worker/line_channel.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace espalier::bench {

bool LineChannel::send(const std::string& message) const {
    const std::string line = message + '\n';
    for (std::size_t done = 0; done < line.size();) {
        const ssize_t sent = ::send(file_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
        if (sent > 0) {
            done += static_cast<std::size_t>(sent);
        } else if (errno == EAGAIN) {
            pollfd writable{file_, POLLOUT, 0};
            poll(&writable, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

bool LineChannel::receive() {
    char chunk[1 << 16];
    const ssize_t got = read(file_, chunk, sizeof chunk);
    if (got > 0) received_.append(chunk, static_cast<std::size_t>(got));
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

std::optional<std::string> LineChannel::take() {
    const auto end = received_.find('\n');
    if (end == std::string::npos) return std::nullopt;
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    return line;
}

}  // namespace espalier::bench
