#include "harness/cli/knn_report.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <limits>

#include "harness/base/text/csv_field.hpp"

namespace espalier::bench::cli {
namespace {

/// The shortest text that reads back as the same number.
std::string text(double value) {
    if (std::isnan(value)) return "?";
    char buffer[32];
    const auto [end, error] = std::to_chars(std::begin(buffer), std::end(buffer), value);
    return {buffer, end};
}

/// Two more fields: the row numbers of all neighbours, and their distances, with blanks between them.
std::string within_radius(const apps::Predictions& predictions, std::size_t query,
                          const std::vector<std::size_t>& train_numbers) {
    std::string rows, distances;
    for (std::int64_t at = predictions.offsets[query]; at < predictions.offsets[query + 1]; ++at) {
        const auto point = static_cast<std::size_t>(predictions.neighbours[static_cast<std::size_t>(at)]);
        rows += (rows.empty() ? "" : " ") + std::to_string((train_numbers.empty() ? point : train_numbers[point]) + 1);
        distances += (distances.empty() ? "" : " ") + text(predictions.distances[static_cast<std::size_t>(at)]);
    }
    return "," + rows + "," + distances;
}

}  // namespace

void KnnScore::add(const apps::Predictions& predictions, const io::Rows& truth) {
    rows_ += static_cast<std::int64_t>(truth.size());
    for (std::size_t i = 0; i < predictions.classes.size(); ++i) {
        unanswered_ += predictions.classes[i] == kNoClass;
        if (!truth.classes.empty()) correct_ += predictions.classes[i] == truth.classes[i];
    }
    for (std::size_t i = 0; i < predictions.targets.size(); ++i) {
        if (std::isnan(predictions.targets[i])) {
            ++unanswered_;
            continue;
        }
        if (truth.targets.empty()) continue;
        const double actual = truth.targets[i];
        const double off = predictions.targets[i] - actual;
        squares_ += off * off;
        absolutes_ += std::abs(off);
        const double from_mean = actual - truth_mean_;
        truth_mean_ += from_mean / static_cast<double>(++answered_);
        truth_spread_ += from_mean * (actual - truth_mean_);
    }
}

double KnnScore::accuracy() const { return static_cast<double>(correct_) / static_cast<double>(rows_); }

double KnnScore::root_mean_square_error() const { return std::sqrt(squares_ / static_cast<double>(answered_)); }

double KnnScore::mean_absolute_error() const { return absolutes_ / static_cast<double>(answered_); }

double KnnScore::r_squared() const {
    return truth_spread_ > 0 ? 1 - squares_ / truth_spread_ : std::numeric_limits<double>::quiet_NaN();
}

PredictionWriter::PredictionWriter(const std::string& path, const io::Schema& schema, const apps::KnnSettings& settings,
                                   bool with_truth)
    : schema_(schema), settings_(settings), with_truth_(with_truth), file_(path) {
    std::string header = "row,predicted";
    if (with_truth_) header += "," + csv_field(schema.label.name);
    if (settings.neighbours && settings.radius) header += ",neighbours,distances";
    for (std::int64_t j = 1; settings.neighbours && !settings.radius && j <= settings.k; ++j)
        header.append(",neighbour_").append(std::to_string(j)).append(",distance_").append(std::to_string(j));
    for (std::size_t c = 0; settings.probabilities && c < schema.label.values.size(); ++c)
        header += "," + csv_field("probability_" + schema.label.values[c]);
    file_.write(header + "\n");
}

void PredictionWriter::write(const apps::Predictions& predictions, const io::Rows& rows,
                             const std::vector<std::size_t>& row_numbers,
                             const std::vector<std::size_t>& train_numbers) {
    const std::size_t count = rows.size();
    auto unheard = rows.unheard.begin();
    const std::size_t classes = settings_.probabilities ? schema_.label.values.size() : 0;
    const auto class_name = [&](std::int32_t code) {
        if (code == io::kUnheardClass) return csv_field(*unheard++);
        return code == kNoClass ? std::string("?") : csv_field(schema_.label.values[static_cast<std::size_t>(code)]);
    };
    for (std::size_t i = 0; i < count; ++i, ++rows_written_) {
        std::string line = std::to_string((row_numbers.empty() ? rows_written_ : row_numbers[rows_written_]) + 1) + ",";
        line += predictions.targets.empty() ? class_name(predictions.classes[i]) : text(predictions.targets[i]);
        if (with_truth_) line += "," + (rows.targets.empty() ? class_name(rows.classes[i]) : text(rows.targets[i]));
        if (settings_.neighbours && settings_.radius) line += within_radius(predictions, i, train_numbers);
        for (std::size_t at = i; settings_.neighbours && !settings_.radius && at < predictions.neighbours.size();
             at += count) {
            const auto point = static_cast<std::size_t>(predictions.neighbours[at]);
            line += "," + std::to_string((train_numbers.empty() ? point : train_numbers[point]) + 1) + "," +
                    text(predictions.distances[at]);
        }
        for (std::size_t c = 0; c < classes; ++c) line += "," + text(predictions.probabilities[i * classes + c]);
        file_.write(line + "\n");
    }
}

void PredictionWriter::finish() { file_.commit(); }

}  // namespace espalier::bench::cli
