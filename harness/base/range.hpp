#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace espalier::device {

/// Names what runs during its life in the timeline of an attached profiler (NVTX) and in the program's own
/// (`begin_timeline`); else costs nothing.
class Range {
public:
    explicit Range(std::string name);
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;

private:
    std::string name_;
    std::uint64_t begin_ns_ = 0;
};

/// What `body` returns, which runs in a range of that name.
template <class Body>
decltype(auto) in_range(std::string name, const Body& body) {
    const Range range(std::move(name));
    return body();
}

/// Names a moment. The text must outlive the program's timeline, as a variant's name does.
void mark(const char* name);

}  // namespace espalier::device
