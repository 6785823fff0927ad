#include "kernels/api/trial_arrays.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>

namespace espalier {
namespace {

constexpr int kTrialPoison = 0xA5;

/// Bits for the i-th number of an array (splitmix64).
std::uint64_t trial_bits(std::uint64_t i) {
    i += 0x9E3779B97F4A7C15U;
    i = (i ^ i >> 30) * 0xBF58476D1CE4E5B9U;
    i = (i ^ i >> 27) * 0x94D049BB133111EBU;
    return i ^ i >> 31;
}

/// Numbers from 0 to 1, positive so that sums of them do not cancel; bytes of any value.
void fill_at_random(const ArraySpec& spec, std::uint64_t seed, std::span<std::byte> bytes) {
    if (spec.is_float) {
        for (std::size_t i = 0; i < bytes.size() / sizeof(float); ++i) {
            const float number = static_cast<float>(trial_bits(seed + i) >> 40) * 0x1p-24F;
            std::memcpy(bytes.data() + i * sizeof number, &number, sizeof number);
        }
        return;
    }
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
        const std::uint64_t bits = trial_bits(seed + i);
        std::memcpy(bytes.data() + i, &bits, std::min(sizeof bits, bytes.size() - i));
    }
}

float float_at(std::span<const std::byte> bytes, std::size_t i) {
    float number = 0;
    std::memcpy(&number, bytes.data() + i * sizeof number, sizeof number);
    return number;
}

bool same_numbers(std::span<const std::byte> expected, std::span<const std::byte> actual, const Slack& slack) {
    const std::size_t count = expected.size() / sizeof(float);
    float largest = 0;
    for (std::size_t i = 0; i < count; ++i)
        if (const float size = std::abs(float_at(expected, i)); std::isfinite(size)) largest = std::max(largest, size);
    const double allowed = slack.absolute + slack.relative * static_cast<double>(largest);
    for (std::size_t i = 0; i < count; ++i) {
        const double a = float_at(expected, i), b = float_at(actual, i);
        if (std::isnan(a) ? !std::isnan(b) : a != b && !(std::abs(a - b) <= allowed)) return false;
    }
    return true;
}

/// Of the calling thread, in nanoseconds.
double processor_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace

bool same_results(const ArraySpec& spec, std::span<const std::byte> expected, std::span<const std::byte> actual,
                  const Slack& slack) {
    if (expected.size() != actual.size()) return false;
    if (expected.empty() || std::memcmp(expected.data(), actual.data(), expected.size()) == 0) return true;
    if (spec.is_float) return same_numbers(expected, actual, slack);
    if (spec.element != 1) return false;
    return std::ranges::equal(expected, actual, [&](std::byte a, std::byte b) {
        return std::abs(std::to_integer<int>(a) - std::to_integer<int>(b)) <= slack.absolute;
    });
}

TrialArrays::TrialArrays(const Transport& transport, std::span<const ArraySpec> specs, Stream stream,
                         const std::function<bool(std::size_t, std::span<std::byte>)>& fill)
    : transport_(transport), stream_(stream), specs_(specs.begin(), specs.end()), on_host_(specs.size()) {
    for (std::size_t array = 0; array < specs_.size(); ++array) {
        const ArraySpec& spec = specs_[array];
        bytes_.push_back(spec.bytes());
        memory_.emplace_back(transport_, spec.bytes(), stream_);
        if (spec.use != ArraySpec::Use::input || spec.count == 0) continue;
        if (transport_.on_gpu()) on_host_[array].resize(spec.bytes());
        const std::span<std::byte> values = transport_.on_gpu() ? std::span(on_host_[array]) : memory_[array].span();
        if (!fill(array, values)) fill_at_random(spec, array << 48, values);
        if (transport_.on_gpu()) device::copy_to_device(data(array), values.data(), values.size(), stream_);
    }
    if (transport_.on_gpu()) device::synchronize(stream_);
}

std::span<const std::byte> TrialArrays::input(std::size_t array) const {
    return transport_.on_gpu() ? std::span<const std::byte>(on_host_[array]) : memory_[array].span();
}

std::span<std::byte> TrialArrays::workspace(std::size_t bytes) {
    if (bytes == 0) return {};
    if (!workspace_ || workspace_->span().size() < bytes) {
        workspace_.reset();
        workspace_.emplace(transport_, bytes, stream_);
    }
    return workspace_->span().first(bytes);
}

void TrialArrays::poison() {
    for (std::size_t array = 0; array < specs_.size(); ++array) {
        if (specs_[array].use == ArraySpec::Use::input || bytes_[array] == 0) continue;
        if (transport_.on_gpu())
            device::fill(data(array), kTrialPoison, bytes_[array], stream_);
        else
            std::memset(data(array), kTrialPoison, bytes_[array]);
    }
}

Outputs TrialArrays::outputs() const {
    Outputs all(specs_.size());
    for (std::size_t array = 0; array < specs_.size(); ++array) {
        if (specs_[array].use != ArraySpec::Use::output || bytes_[array] == 0) continue;
        all[array].resize(bytes_[array]);
        if (transport_.on_gpu())
            device::copy_to_host(all[array].data(), data(array), bytes_[array], stream_);
        else
            std::memcpy(all[array].data(), data(array), bytes_[array]);
    }
    if (transport_.on_gpu()) device::synchronize(stream_);
    return all;
}

TrialTime time_of(Stream stream, bool on_gpu, const std::function<void()>& run) {
    if (on_gpu) {
        device::Event begin, end;
        begin.record(stream);
        run();
        end.record(stream);
        end.wait_for();
        const double taken = end.nanoseconds_since(begin);
        return {taken, taken};
    }
    const double used = processor_time();
    const auto begin = std::chrono::steady_clock::now();
    run();
    const std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
    return {taken.count(), processor_time() - used};
}

}  // namespace espalier
