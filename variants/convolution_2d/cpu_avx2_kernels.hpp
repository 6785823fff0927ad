#pragma once

#include <immintrin.h>

#include <array>
#include <cstdint>

#include "kernels/core/variant.hpp"
#include "variants/convolution_2d/cpu_rows.hpp"
#include "variants/convolution_2d/limits.hpp"

/// The AVX2 kernels that read every tap from memory (source C 1.3): from bytes, widened on the way, or from
/// an image that was converted beforehand.
namespace espalier::convolution_2d {

__attribute__((target("avx2"))) inline __m256i load_int16(const std::uint8_t* from) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
__attribute__((target("avx2"))) inline __m256i load_int16(const std::int16_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
__attribute__((target("avx2"))) inline __m256 load_float(const std::uint8_t* from) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}
__attribute__((target("avx2"))) inline __m256 load_float(const float* from) { return _mm256_loadu_ps(from); }

/// Sixteen sums as bytes.
__attribute__((target("avx2"))) inline void store_saturated(std::uint8_t* to, __m256i sum) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm_packus_epi16(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1)));
}

/// Eight sums as bytes: saturated first (converting what is too large for an int gives the smallest one),
/// then rounded to even by the conversion. Not-a-number becomes 0.
__attribute__((target("avx2"))) inline void store_saturated(std::uint8_t* to, __m256 sum) {
    sum = _mm256_min_ps(_mm256_max_ps(sum, _mm256_setzero_ps()), _mm256_set1_ps(255.0F));
    const __m256i whole = _mm256_cvtps_epi32(sum);
    const __m128i words = _mm_packus_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi16(words, words));
}

/// 16 values at once. The multiplier keeps 16 bits and so does the sum: for `narrow` coefficients.
template <class Source_>
class Int16Kernel {
public:
    using Source = Source_;
    static constexpr int kStep = 16;
    static constexpr int kRows = 1;

    Int16Kernel(const Problem& problem, const Filter5x5& filter) : channels_(problem.channels) {
        for (std::size_t i = 0; i < taps_.size(); ++i) taps_[i] = static_cast<std::int16_t>(filter[i]);
    }

    template <int kCount>
    __attribute__((target("avx2"))) void apply(const SourceRows<Source, kCount>& rows,
                                               const ResultRows<kCount>& results, std::int64_t count) const {
        for (std::int64_t v = 0; v < count; v += kStep) {
            if (v + kStep > count) v = count - kStep;  // the last ones again rather than fewer at once
            __m256i sum = _mm256_setzero_si256();
#pragma GCC unroll 5
            for (std::size_t i = 0; i < kDiameter; ++i)
#pragma GCC unroll 5
                for (std::size_t j = 0; j < kDiameter; ++j) {
                    const __m256i values = load_int16(rows[i] + v + static_cast<std::int64_t>(j) * channels_);
                    const __m256i tap = _mm256_set1_epi16(taps_[i * kDiameter + j]);
                    sum = _mm256_add_epi16(sum, _mm256_mullo_epi16(values, tap));
                }
            store_saturated(results[0] + v, sum);
        }
    }

private:
    std::array<std::int16_t, kDiameter * kDiameter> taps_;
    std::int64_t channels_;
};

/// 8 values at once in single precision.
template <class Source_>
class FloatKernel {
public:
    using Source = Source_;
    static constexpr int kStep = 8;
    static constexpr int kRows = 1;

    FloatKernel(const Problem& problem, const Filter5x5& filter) : taps_(filter), channels_(problem.channels) {}

    template <int kCount>
    __attribute__((target("avx2,fma"))) void apply(const SourceRows<Source, kCount>& rows,
                                                   const ResultRows<kCount>& results, std::int64_t count) const {
        for (std::int64_t v = 0; v < count; v += kStep) {
            if (v + kStep > count) v = count - kStep;  // the last ones again rather than fewer at once
            __m256 sum = _mm256_setzero_ps();
#pragma GCC unroll 5
            for (std::size_t i = 0; i < kDiameter; ++i)
#pragma GCC unroll 5
                for (std::size_t j = 0; j < kDiameter; ++j) {
                    const __m256 values = load_float(rows[i] + v + static_cast<std::int64_t>(j) * channels_);
                    sum = _mm256_fmadd_ps(values, _mm256_set1_ps(taps_[i * kDiameter + j]), sum);
                }
            store_saturated(results[0] + v, sum);
        }
    }

private:
    Filter5x5 taps_;
    std::int64_t channels_;
};

/// Converts bytes to what a kernel reads, 16 at a time.
__attribute__((target("avx2"))) inline void convert(const std::uint8_t* from, std::int16_t* to, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + 16 <= count; i += 16) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), load_int16(from + i));
    for (; i < count; ++i) to[i] = from[i];
}
__attribute__((target("avx2"))) inline void convert(const std::uint8_t* from, float* to, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + 8 <= count; i += 8) _mm256_storeu_ps(to + i, load_float(from + i));
    for (; i < count; ++i) to[i] = from[i];
}

/// The whole image converted into `workspace` (values() elements of Kernel::Source), then correlated.
template <class Kernel>
void correlate_converted(const Problem& problem, const Buffers& buffers, std::span<std::byte> workspace, int threads) {
    auto* const converted = reinterpret_cast<typename Kernel::Source*>(workspace.data());
    const std::int64_t values = problem.values();
    const int shares = shares_of<Kernel>(problem, threads);
    for_each_share(shares, [&](int share) {
        const std::int64_t begin = values * share / shares;
        convert(buffers.image + begin, converted + begin, values * (share + 1) / shares - begin);
    });
    correlate_in_parallel(problem, converted, buffers.result, Kernel(problem, *buffers.filter), threads);
}

namespace {

/// `supports_sums` is what a kernel's sums can hold (limits.hpp).
template <Support (*supports_sums)(const Problem&)>
Support supports(const Problem& problem, const Configuration& configuration, const DeviceInfo& device) {
    if (Support support = supports_avx2(device, configuration["parallel"]); !support) return support;
    return supports_sums(problem);
}

template <class Kernel>
void run_kernel(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const int threads = configuration["parallel"] ? context.device.threads : 1;
    correlate_in_parallel(problem, buffers.image, buffers.result, Kernel(problem, *buffers.filter), threads);
}

/// Bytes of the whole image as `Value`s.
template <class Value>
std::size_t converted_bytes(const Problem& problem, const Configuration&, const DeviceInfo&) {
    return static_cast<std::size_t>(problem.values()) * sizeof(Value);
}

template <class Kernel>
void run_converted(Context& context, const Problem& problem, const Buffers& buffers,
                   const Configuration& configuration) {
    const int threads = configuration["parallel"] ? context.device.threads : 1;
    correlate_converted<Kernel>(problem, buffers, context.workspace, threads);
}

}  // namespace
}  // namespace espalier::convolution_2d
