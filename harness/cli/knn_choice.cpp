#include "harness/cli/knn_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "harness/apps/sessions/knn_session.hpp"
#include "harness/apps/tables/split.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/cli/knn_report.hpp"

namespace espalier::bench::cli {
namespace {

bool is_better(const KnnScore& one, const KnnScore& other, Task task) {
    if (task == Task::classification) return one.correct() > other.correct();
    const double error = one.root_mean_square_error(), other_error = other.root_mean_square_error();
    return !std::isnan(error) && (std::isnan(other_error) || error < other_error);
}

void tell(std::int64_t k, const KnnScore& score, Task task) {
    if (task == Task::classification)
        to_stderr("k = {}: accuracy {:.6f}, each row by all others\n", k, score.accuracy());
    else
        to_stderr("k = {}: root mean square error {:.6g}, each row by all others\n", k, score.root_mean_square_error());
}

}  // namespace

std::int64_t choose_k(const Device& device, const io::Table& train, apps::KnnSettings settings,
                      const KnnOptions& options) {
    constexpr std::size_t kRowsAtOnce = 4096;
    settings.k = options.ks.back();
    settings.leave_one_out = true;
    settings.probabilities = false;
    apps::KnnSession session(device, train.schema, train.rows, settings);
    const std::size_t rows = train.rows.size(), at_once = session.chunk_rows(std::min(rows, kRowsAtOnce));
    std::vector<KnnScore> scores(options.ks.size());
    for (std::size_t first = 0; first < rows; first += at_once) {
        std::vector<std::size_t> numbers(std::min(at_once, rows - first));
        std::iota(numbers.begin(), numbers.end(), first);
        const io::Rows chunk = io::take(train.rows, numbers);
        apps::Predictions predictions = session.predict(chunk);
        for (std::size_t i = 0; i < scores.size(); ++i) {
            session.vote(predictions, options.ks[i]);
            scores[i].add(predictions, chunk);
        }
    }
    std::size_t best = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        if (is_better(scores[i], scores[best], settings.task)) best = i;
        if (!options.quiet) tell(options.ks[i], scores[i], settings.task);
    }
    if (!options.quiet) to_stderr("k = {} is taken\n", options.ks[best]);
    return options.ks[best];
}

}  // namespace espalier::bench::cli
