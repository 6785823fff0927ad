#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/core/thread_errors.hpp"
#include "kernels/core/variant.hpp"
#include "kernels/problems/coherent_sum.hpp"

/// Coherent sums with a tile of a source's times in vector registers while receivers are added to it: one load for each
/// addition, where a tile in memory takes two and a store. Receivers are taken a few at a time for all sources of a
/// block, so that the parts of their traces that the sources share stay in the innermost cache. Receivers are added in
/// order: the sums are bit for bit those of the plain loops.
///
/// `Vectors` has `kLanes`, `kMost` vectors that sums may lie in, `add<count>(tile)` and `largest(values, count)`.
namespace espalier::coherent_sum::register_tiles {

/// What is added to `count` vectors of sums: some receivers of one source.
struct Addition {
    const float* traces;         ///< the first receiver's, at the first time
    std::int64_t trace_samples;  ///< from one receiver's to the next one's
    const std::int32_t* delays;
    std::int64_t receivers;
    float* sums;
    bool begins;  ///< the sums are 0 yet, whatever is in memory
};

using Add = void (*)(const Addition&);

template <class Vectors, std::size_t... counts>
constexpr std::array<Add, sizeof...(counts)> additions(std::index_sequence<counts...>) {
    return {&Vectors::template add<static_cast<int>(counts) + 1>...};
}

/// For windows shorter than a vector.
inline void add_scalar(const Addition& tile, std::int64_t samples) {
    if (tile.begins) std::fill_n(tile.sums, samples, 0.0F);
    for (std::int64_t r = 0; r < tile.receivers; ++r)
        for (std::int64_t k = 0; k < samples; ++k)
            tile.sums[k] += tile.traces[r * tile.trace_samples + tile.delays[r] + k];
}

/// Adds to `samples` times. They are covered by tiles of nearly the same width, the last of which ends with them: what
/// it shares with the one before is added twice, into sums that it begins itself, so a chunk's sums must be apart.
template <class Vectors>
class Tiles {
public:
    explicit Tiles(std::int64_t samples) : samples_(samples) {
        const std::int64_t vectors = (samples + Vectors::kLanes - 1) / Vectors::kLanes;
        const std::int64_t tiles = std::max<std::int64_t>((vectors + Vectors::kMost - 1) / Vectors::kMost, 1);
        width_ = (vectors + tiles - 1) / tiles;
        if (width_ * Vectors::kLanes > samples) width_ = samples / Vectors::kLanes;
    }

    /// Room for the sums of one source: those of the last tile are apart from the others.
    [[nodiscard]] std::int64_t room() const { return samples_ + Vectors::kMost * Vectors::kLanes; }

    void add(const Addition& all) const {
        if (width_ == 0) return add_scalar(all, samples_);
        const std::int64_t step = width_ * Vectors::kLanes;
        std::int64_t first = 0;
        for (; first + step <= samples_; first += step) add(all, first, width_, first);
        if (first < samples_) add(all, samples_ - last() * Vectors::kLanes, last(), samples_);
    }

    /// Puts the last tile's sums to their place.
    void finish(float* sums) const {
        if (width_ == 0 || samples_ % (width_ * Vectors::kLanes) == 0) return;
        const std::int64_t count = last() * Vectors::kLanes;
        std::copy_n(sums + samples_, count, sums + samples_ - count);
    }

private:
    /// Vectors of the last tile, which is not a whole one.
    [[nodiscard]] std::int64_t last() const {
        return (samples_ % (width_ * Vectors::kLanes) + Vectors::kLanes - 1) / Vectors::kLanes;
    }

    void add(const Addition& all, std::int64_t first, std::int64_t vectors, std::int64_t to) const {
        static constexpr auto kAdditions = additions<Vectors>(std::make_index_sequence<Vectors::kMost>());
        Addition tile = all;
        tile.traces += first;
        tile.sums += to;
        kAdditions[static_cast<std::size_t>(vectors - 1)](tile);
    }

    std::int64_t samples_, width_ = 0;
};

struct Peak {
    float sum = 0;
    std::int32_t sample = -1;

    /// A later part of the window has the earlier one's place only if its sum is larger.
    void follow(const Peak& later) {
        if (later.sample >= 0 && (sample < 0 || later.sum > sum)) *this = later;
    }
};

/// How the sums are dealt out: blocks of sources x parts of the window, of which one thread sums a piece at a time.
struct Pieces {
    std::int64_t sources, samples;

    Pieces(const Problem& problem, int threads, int window) : sources(kSources), samples(window) {
        const std::int64_t parts = std::max<std::int64_t>((problem.samples + window - 1) / window, 1);
        // Smaller blocks where there are too few pieces for all threads.
        while (sources > 1 && (problem.sources + sources - 1) / sources * parts < 2 * std::int64_t{threads})
            sources /= 2;
    }

    static constexpr std::int64_t kSources = 64;
};

template <class Vectors>
void sum_piece(const Problem& problem, const Buffers& buffers, std::int64_t first_source, std::int64_t sources,
               std::int64_t first, std::int64_t samples, std::int64_t chunk, std::vector<float>& memory, Peak* peaks) {
    const Tiles<Vectors> tiles(samples);
    memory.resize(std::max(memory.size(), static_cast<std::size_t>(sources * tiles.room())));
    for (std::int64_t r = 0; r == 0 || r < problem.receivers; r += chunk)
        for (std::int64_t s = 0; s < sources; ++s)
            tiles.add({.traces = buffers.traces + r * problem.trace_samples() + first,
                       .trace_samples = problem.trace_samples(),
                       .delays = buffers.delays + (first_source + s) * problem.receivers + r,
                       .receivers = std::min(chunk, problem.receivers - r),
                       .sums = memory.data() + s * tiles.room(),
                       .begins = r == 0});
    for (std::int64_t s = 0; s < sources; ++s) {
        float* const sums = memory.data() + s * tiles.room();
        tiles.finish(sums);
        if (problem.output == Coherence::sums) {
            std::copy_n(sums, samples, buffers.sums + (first_source + s) * problem.samples + first);
            continue;
        }
        const float largest = Vectors::largest(sums, samples);
        const auto at = static_cast<std::int32_t>(first + (std::find(sums, sums + samples, largest) - sums));
        peaks[first_source + s].follow({largest, at});
    }
}

template <class Vectors>
void run(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    const Pieces piece(problem, context.device.threads, configuration["window"]);
    const std::int64_t blocks = (problem.sources + piece.sources - 1) / piece.sources;
    const std::int64_t windows = (problem.samples + piece.samples - 1) / piece.samples;
    // A part is several windows that follow each other, so that there are no more peaks than needed.
    const std::int64_t wanted = (2 * context.device.threads + blocks - 1) / std::max<std::int64_t>(blocks, 1);
    const std::int64_t parts = std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(windows, 1));
    const bool maximum = problem.output == Coherence::maximum;
    std::vector<Peak> peaks(static_cast<std::size_t>(maximum ? parts * problem.sources : 0));
    ThreadErrors errors;
#pragma omp parallel num_threads(context.device.threads)
    {
        std::vector<float> memory;
#pragma omp for schedule(dynamic)
        for (std::int64_t item = 0; item < blocks * parts; ++item)
            errors.guard([&] {
                const std::int64_t part = item / blocks, source = item % blocks * piece.sources;
                const std::int64_t sources = std::min(piece.sources, problem.sources - source);
                for (std::int64_t w = part * windows / parts; w < (part + 1) * windows / parts; ++w)
                    sum_piece<Vectors>(problem, buffers, source, sources, w * piece.samples,
                                       std::min(piece.samples, problem.samples - w * piece.samples),
                                       configuration["receivers"], memory, peaks.data() + part * problem.sources);
            });
    }
    errors.rethrow();
    if (!maximum) return;
    for (std::int64_t source = 0; source < problem.sources; ++source) {
        Peak peak;
        for (std::int64_t part = 0; part < parts; ++part)
            peak.follow(peaks[static_cast<std::size_t>(part * problem.sources + source)]);
        buffers.maximum[source] = peak.sum;
        buffers.maximum_sample[source] = peak.sample;
    }
}

}  // namespace espalier::coherent_sum::register_tiles
