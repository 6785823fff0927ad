#include "harness/bench/sweep/worker/candidates.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "kernels/device/runtime.hpp"

namespace espalier::bench {

std::vector<Candidate> candidates_of(const protocol::Measure& request, const Family& family) {
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < request.candidates.size(); ++i) {
        const auto& wanted = request.candidates[i];
        const std::size_t variant = family.find(wanted.variant);
        const auto all = with_pinned(family.variants()[variant]);
        const auto found =
            std::ranges::find_if(all, [&](const Configuration& c) { return c.text() == wanted.configuration; });
        candidates.push_back({static_cast<std::uint32_t>(i), variant, *found, request.family + "/" + wanted.variant});
    }
    return candidates;
}

std::optional<RunFailure> failure_of(const std::function<void()>& body) {
    try {
        body();
        return std::nullopt;
    } catch (const device::DeviceError& error) {
        if (error.out_of_memory()) return RunFailure{Status::out_of_memory, error.what()};
        return RunFailure{Status::crashed, error.what(), true};
    } catch (const std::bad_alloc&) {
        return RunFailure{Status::out_of_memory, "host memory ran out"};
    } catch (const std::exception& error) {
        return RunFailure{Status::crashed, std::string("threw: ") + error.what(), true};
    }
}

void Reporter::fail(std::uint32_t candidate, Status status, const std::string& reason) const {
    send_(protocol::Failed{candidate, status, reason});
}

void Reporter::fail(std::uint32_t candidate, const RunFailure& failure) {
    if (failure.spoils) spoil();
    fail(candidate, failure.status, failure.reason);
}

bool Reporter::ran(std::uint32_t candidate, const std::function<void()>& body) {
    const auto failure = failure_of(body);
    if (failure) fail(candidate, *failure);
    return !failure;
}

}  // namespace espalier::bench
