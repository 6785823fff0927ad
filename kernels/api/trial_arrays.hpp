#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "kernels/api/arrays.hpp"
#include "kernels/api/call_memory.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier {

/// How far results of two variants may lie apart, for both tolerances together.
struct Slack {
    double absolute = 0;
    double relative = 0;  ///< of the largest magnitude in the array

    /// Of two variants; `roundings` is how many of the tolerances' relative errors may add up.
    static Slack of(const Tolerance& a, const Tolerance& b, double roundings = 1) {
        return {a.absolute + b.absolute, (a.relative + b.relative) * roundings};
    }
};

/// Whether two outputs are the same but for rounding: numbers of single precision and bytes within the slack,
/// everything else to the bit. NaN equals NaN.
bool same_results(const ArraySpec& spec, std::span<const std::byte> expected, std::span<const std::byte> actual,
                  const Slack& slack);

/// Bytes of arrays in the host's memory, one for each array of a call; those that are no output are empty.
using Outputs = std::vector<std::vector<std::byte>>;

/// Arrays like those of a call as a variant gets them, where the device reaches them, with random numbers as inputs.
class TrialArrays {
public:
    /// `fill(array, bytes)` may put something better into an input, and says whether it did.
    TrialArrays(const Transport& transport, std::span<const ArraySpec> specs, Stream stream,
                const std::function<bool(std::size_t, std::span<std::byte>)>& fill);

    [[nodiscard]] void* pointer(std::size_t array) const { return bytes_[array] == 0 ? nullptr : data(array); }

    /// Bytes of device memory, at least so many, whose contents nobody needs.
    std::span<std::byte> workspace(std::size_t bytes);

    /// Fills the outputs with what no variant writes.
    void poison();

    /// The outputs, once all work on the stream is done.
    [[nodiscard]] Outputs outputs() const;

    /// An input where the host reaches it.
    [[nodiscard]] std::span<const std::byte> input(std::size_t array) const;

private:
    [[nodiscard]] std::byte* data(std::size_t array) const { return memory_[array].span().data(); }

    Transport transport_;
    Stream stream_;
    std::vector<ArraySpec> specs_;
    std::vector<std::size_t> bytes_;
    std::vector<CallMemory> memory_;
    std::vector<std::vector<std::byte>> on_host_;  ///< inputs of a GPU
    std::optional<CallMemory> workspace_;
};

/// A stream of its own on a GPU; null on a CPU.
class TrialStream {
public:
    explicit TrialStream(const Transport& transport) {
        if (transport.on_gpu()) stream_.emplace();
    }
    [[nodiscard]] Stream get() const { return stream_ ? stream_->get() : nullptr; }

private:
    std::optional<device::OwnedStream> stream_;
};

/// Nanoseconds that some runs took.
struct TrialTime {
    double taken;  ///< by the wall clock; of a GPU by its own
    double used;   ///< of the calling thread's processor time; of a GPU the same as `taken`
};

/// How long `run`, which enqueues on the stream, takes there.
TrialTime time_of(Stream stream, bool on_gpu, const std::function<void()>& run);

}  // namespace espalier
