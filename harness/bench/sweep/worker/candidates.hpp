#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "harness/bench/families/family.hpp"
#include "harness/bench/sweep/worker/protocol.hpp"

namespace espalier::bench {

/// A choice that a worker was asked to measure, and what is known of it so far.
struct Candidate {
    std::uint32_t index = 0;  ///< in the request
    std::size_t variant = 0;
    Configuration configuration;
    std::string name;
    double run_seconds = 0, scaled_down_seconds = 0;
};

/// Those of a request, in its order.
std::vector<Candidate> candidates_of(const protocol::Measure& request, const Family& family);

/// Why something that was run in this process failed.
struct RunFailure {
    Status status = Status::crashed;
    std::string reason;
    bool spoils = false;  ///< the process must not be used any more: such errors stick to a device's context
};

/// Runs `body`; nothing if it threw nothing.
std::optional<RunFailure> failure_of(const std::function<void()>& body);

/// Tells the sweep what becomes of candidates.
class Reporter {
public:
    using Send = std::function<void(const protocol::Event&)>;
    explicit Reporter(const Send& send) : send_(send) {}

    void send(const protocol::Event& event) const { send_(event); }
    void fail(std::uint32_t candidate, Status status, const std::string& reason) const;
    void fail(std::uint32_t candidate, const RunFailure& failure);

    /// Runs `body` for a candidate. False if it threw, in which case the candidate has been reported.
    bool ran(std::uint32_t candidate, const std::function<void()>& body);

    /// The process may go on. It may not once a device failed or a candidate wrote over what is not its own.
    [[nodiscard]] bool usable() const { return usable_; }
    void spoil() { usable_ = false; }

private:
    const Send& send_;
    bool usable_ = true;
};

}  // namespace espalier::bench
