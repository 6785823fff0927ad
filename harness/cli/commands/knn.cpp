// espalier knn: classifies (or regresses) the rows of a table by their nearest neighbours in another one.

#include "kernels/problems/knn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/memory.hpp"
#include "harness/apps/sessions/knn_session.hpp"
#include "harness/base/clock.hpp"
#include "harness/base/files/replaced_file.hpp"
#include "harness/base/files/same_file.hpp"
#include "harness/base/progress.hpp"
#include "harness/base/range.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/to_stderr.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/device_option.hpp"
#include "harness/cli/knn_choice.hpp"
#include "harness/cli/knn_input.hpp"
#include "harness/cli/knn_options.hpp"
#include "harness/cli/knn_report.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/standard_output.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench::cli {
namespace {

/// What a chunk of test rows is, and the share of them that was read with it.
struct Chunk {
    io::Rows rows;
    double share;
};

Metric metric_of(const std::string& name, const io::Schema& schema) {
    const auto known = std::find(std::begin(distance::kMetricNames), std::end(distance::kMetricNames), name);
    if (known != std::end(distance::kMetricNames))
        return static_cast<Metric>(known - std::begin(distance::kMetricNames));
    const bool nominal = std::any_of(schema.attributes.begin(), schema.attributes.end(),
                                     [](const auto& column) { return column.kind == io::ColumnKind::nominal; });
    return nominal ? Metric::mixed_euclidean : Metric::euclidean;
}

/// What the exact models alone have.
ExactMetric exact_metric_of(const std::string& name) {
    return name == "minkowski"   ? ExactMetric::minkowski
           : name == "haversine" ? ExactMetric::haversine
           : name == "hamming"   ? ExactMetric::hamming
                                 : ExactMetric::of_rule;
}

/// As the options call it.
std::string metric_name(const apps::KnnSettings& settings) {
    switch (settings.exact_metric) {
        case ExactMetric::minkowski: return "minkowski";
        case ExactMetric::haversine: return "haversine";
        case ExactMetric::hamming: return "hamming";
        case ExactMetric::of_rule: break;
    }
    return std::string(distance::kMetricNames[static_cast<std::size_t>(settings.metric)]);
}

std::size_t default_memory(const Device& device) {
    const DeviceInfo& info = state_of(device).info;
    if (info.kind == DeviceKind::cpu) return info.memory_bytes / 2;
    const CurrentDevice current(state_of(device));
    return device::memory_state().free / 2;
}

/// So few that a CPU is done with them in a second or so, to tell how far it is; a GPU needs many at a time. And so few
/// that a wide table's rows, of which there are two chunks at a time, take little beside the training table.
std::size_t rows_at_once(const Device& device, const io::Schema& schema, std::int64_t train_rows) {
    constexpr std::size_t kFewest = 64, kLeast = 1024, kMost = 65536;
    constexpr double kProducts = 1e10;
    const std::size_t bytes = device.is_cuda() ? 64 << 20 : 8 << 20;
    const std::size_t fit = std::clamp(bytes / sizeof(io::Number) / schema.attributes.size(), kFewest, kMost);
    if (device.is_cuda()) return fit;
    const double products_per_row = static_cast<double>(schema.attributes.size()) * static_cast<double>(train_rows);
    return std::min(fit,
                    static_cast<std::size_t>(std::clamp(kProducts / products_per_row, double{kLeast}, double{kMost})));
}

struct Outcome {
    KnnScore score;
    std::int64_t rows = 0;
    std::size_t rows_at_once = 0;  ///< what the memory leaves room for
    double seconds = 0;
};

/// Predicts chunk after chunk; the next one is read while this one is computed.
Outcome predict_all(KnnInput& input, apps::KnnSession& session, PredictionWriter* writer, std::size_t rows_per_chunk,
                    bool quiet) {
    const double start = steady_seconds();
    const auto read_ahead = [&] {
        return std::async(std::launch::async, [&input, rows_per_chunk]() -> std::optional<Chunk> {
            const device::Range range("read rows");
            Chunk chunk;
            if (!input.read(chunk.rows, rows_per_chunk)) return std::nullopt;
            chunk.share = input.share();
            return chunk;
        });
    };
    RunProgress progress(quiet);
    Outcome outcome{.rows_at_once = rows_per_chunk};
    auto next = read_ahead();
    while (const auto chunk = next.get()) {
        next = read_ahead();
        const apps::Predictions predictions =
            device::in_range("predict rows", [&] { return session.predict(chunk->rows); });
        outcome.rows += static_cast<std::int64_t>(chunk->rows.size());
        outcome.score.add(predictions, chunk->rows);
        const device::Range range("write predictions");
        if (writer) writer->write(predictions, chunk->rows, input.test_numbers, input.train_numbers);
        progress.show(counted(outcome.rows, "row"), chunk->share);
    }
    outcome.seconds = steady_seconds() - start;
    return outcome;
}

nlohmann::ordered_json as_json(const KnnInput& input, const apps::KnnSession& session,
                               const apps::KnnSettings& settings, const Device& device, const Outcome& outcome) {
    nlohmann::ordered_json json{{"rows", outcome.rows},
                                {"train_rows", session.train_rows()},
                                {"skipped_rows", input.train.unlabelled.rows},
                                {"attributes", input.train.schema.attributes.size()},
                                {"k", settings.k},
                                {"metric", metric_name(settings)},
                                {"vote", knn::kVoteNames[static_cast<std::size_t>(settings.vote)]},
                                {"task", knn::kTaskNames[static_cast<std::size_t>(settings.task)]},
                                {"scale", input.scale ? "standard" : "none"},
                                {"unknown_cells", input.unknown_cells()},
                                {"unknown_labels", input.unknown_labels()},
                                {"unanswered", outcome.score.unanswered()},
                                {"device", device.key()},
                                {"ran", session.ran()},
                                {"rows_at_once", outcome.rows_at_once},
                                {"seconds", outcome.seconds}};
    if (!input.truth_known) return json;
    if (settings.task == Task::classification) {
        json["classes"] = input.train.schema.label.values.size();
        json["correct"] = outcome.score.correct();
        json["accuracy"] = outcome.score.accuracy();
    } else {
        json["root_mean_square_error"] = outcome.score.root_mean_square_error();
        json["mean_absolute_error"] = outcome.score.mean_absolute_error();
        json["r_squared"] = outcome.score.r_squared();
    }
    return json;
}

std::string score_in_words(const KnnScore& score, Task task) {
    if (task == Task::classification)
        return fmt::format("accuracy {:.6f} ({} of {})\n", score.accuracy(), score.correct(),
                           counted(score.rows(), "row"));
    return fmt::format("root mean square error {:.6g}, mean absolute error {:.6g}, R squared {:.6f} ({})\n",
                       score.root_mean_square_error(), score.mean_absolute_error(), score.r_squared(),
                       counted(score.rows(), "row"));
}

/// "cells with a value that no training row has: 3 in 'sky', 1 in 'zip'"
void tell_unknown(const io::Schema& schema) {
    constexpr int kShown = 5;
    std::string columns;
    int shown = 0;
    for (const io::Column& column : schema.attributes) {
        if (column.unknown == 0) continue;
        if (++shown > kShown) break;
        columns += fmt::format("{}{} in '{}'", columns.empty() ? "" : ", ", column.unknown, io::printable(column.name));
    }
    if (shown > 0)
        to_stderr("cells with a value that no training row has: {}{}; they equal none\n", columns,
                  shown > kShown ? ", ..." : "");
}

void tell(const KnnOptions& options, const KnnInput& input, const apps::KnnSession& session, const Device& device,
          const Outcome& outcome) {
    if (options.quiet) return;
    const auto& attributes = input.train.schema.attributes;
    to_stderr("{} against {}, {}, by {} on {} in {:.3f} s\n", counted(outcome.rows, "row"), session.train_rows(),
              counted(attributes.size(), "attribute"), session.ran(), device.key(), outcome.seconds);
    if (input.reader) tell_unknown(input.reader->schema());
    if (input.unknown_labels() > 0)
        to_stderr("rows whose class no training row has: {}; counted as wrong\n", input.unknown_labels());
    if (outcome.score.unanswered() > 0)
        to_stderr("rows that share no known attribute with any training row: {}; their prediction is ?\n",
                  outcome.score.unanswered());
}

void run_knn(KnnOptions& options) {
    validate(options);
    refuse_same_files({{"-o", options.output}},
                      {{"--train", options.train}, {"--test", options.test}, {"--data", options.data}});
    const Device device = device_of(options.device);
    const std::size_t memory = options.memory > 0 ? options.memory : default_memory(device);
    options.table.max_bytes = options.memory > 0 ? memory : std::min(memory, io::available_memory() / 2);
    const std::unique_ptr<KnnInput> read = device::in_range("read tables", [&] { return read_input(options); });
    KnnInput& input = *read;

    apps::KnnSettings settings{.k = options.k,
                               .radius = options.radius,
                               .metric = metric_of(options.metric, input.train.schema),
                               .exact_metric = exact_metric_of(options.metric),
                               .p = options.p,
                               .degrees = options.angles == "degrees",
                               .attribute_weights = attribute_weights_of(options, input.train.schema),
                               .vote = options.weights == "distance" ? Vote::distance_weighted : Vote::majority,
                               .task = options.regression ? Task::regression : Task::classification,
                               .variant = options.variant,
                               .neighbours = options.neighbours,
                               .probabilities = options.probabilities,
                               .leave_one_out = options.leave_one_out,
                               .memory = memory};
    if (!options.ks.empty())
        settings.k = device::in_range("choose k", [&] { return choose_k(device, input.train, settings, options); });
    std::optional<device::Range> training("train");
    apps::KnnSession session(device, input.train.schema, std::move(input.train.rows), settings);
    training.reset();
    // Without a truth to compare with and without a file to write to, the predictions are the output.
    std::optional<PredictionWriter> writer;
    if (!options.output.empty() || (!input.truth_known && !options.json))
        writer.emplace(options.output.empty() ? std::string(kStandardStream) : options.output, input.train.schema,
                       settings, input.truth_known);
    const std::size_t rows_per_chunk =
        session.chunk_rows(std::min(input.test_rows, rows_at_once(device, input.train.schema, session.train_rows())));
    if (options.explain) to_stderr("{}\n", session.explanation(rows_per_chunk));
    // Predictions that go to a terminal must not be mixed with a line of progress.
    const bool to_stdout = writer && (options.output.empty() || options.output == kStandardStream);
    const Outcome outcome = predict_all(input, session, writer ? &*writer : nullptr, rows_per_chunk,
                                        options.quiet || (to_stdout && stdout_is_terminal()));
    if (writer) writer->finish();
    tell(options, input, session, device, outcome);
    if (options.json)
        print_json(as_json(input, session, settings, device, outcome));
    else if (input.truth_known)
        print_in_words(score_in_words(outcome.score, settings.task), options.output == kStandardStream);
}

}  // namespace

void add_knn(CLI::App& program, ExitCode&) {
    const auto options = std::make_shared<KnnOptions>();
    CLI::App& command = *program.add_subcommand("knn", "Predicts classes or numbers by the k nearest neighbours");
    add_knn_options(command, *options);
    command.callback([options] { run_knn(*options); });
}

}  // namespace espalier::bench::cli
