#include "harness/learn/guesses.hpp"

#include "harness/learn/adaptive.hpp"

namespace espalier::bench::learn {
namespace {

/// What was tried of a problem, in vain or not.
Batch tried(const Matrix& matrix, std::size_t problem) {
    Batch batch{problem, {}};
    for (std::size_t c = 0; c < matrix.candidates.size(); ++c) {
        const CellState state = matrix.state(problem, c);
        if (state == CellState::measured || state == CellState::missing) batch.candidates.push_back(c);
    }
    return batch;
}

}  // namespace

void enter_guesses(Matrix& matrix, const std::vector<std::size_t>& rows) {
    const std::size_t width = matrix.candidates.size();
    AdaptiveSweep sweep(matrix);
    std::vector<Batch> batches;
    std::vector<std::vector<double>> logs;
    for (const std::size_t p : rows) {
        batches.push_back(tried(matrix, p));
        auto& times = logs.emplace_back();
        for (const std::size_t c : batches.back().candidates) times.push_back(matrix.log_times[p * width + c]);
    }
    sweep.record(batches, logs);
    const Matrix known = sweep.known();
    for (const std::size_t p : rows) {
        if (!matrix.any(p, CellState::guessed))
            continue;  // what was measured in full is known better: noise was looked at
        for (std::size_t cell = p * width; cell < (p + 1) * width; ++cell)
            matrix.slowdown[cell] = known.slowdown[cell], matrix.loss[cell] = known.loss[cell];
    }
}

}  // namespace espalier::bench::learn
