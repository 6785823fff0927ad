#pragma once

#include <cstddef>
#include <memory>

namespace espalier::device {

/// Host memory of a call. Of 2 to 256 MiB it stays when the call ends, the largest one of the process, for calls to
/// come: pages that were new to the process took 6 ms of a call of 120, and 160 ms on a virtual machine whose host had
/// to find them first. Under pressure the system takes them back (MADV_FREE). Any thread may allocate and free.
class CallPages {
public:
    CallPages() = default;
    explicit CallPages(std::size_t bytes);

    [[nodiscard]] std::byte* data() const { return memory_.get(); }

private:
    struct Return {
        std::size_t bytes;
        void operator()(std::byte* memory) const;
    };
    std::unique_ptr<std::byte, Return> memory_;
};

}  // namespace espalier::device
