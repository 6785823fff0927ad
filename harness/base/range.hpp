#pragma once

#include <string>

namespace espalier::device {

/// Names what runs during its life in the timeline of an attached profiler (NVTX); else costs nothing.
class Range {
public:
    explicit Range(const std::string& name);
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};

}  // namespace espalier::device
