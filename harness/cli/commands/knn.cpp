// espalier knn: classifies (or regresses) the rows of a table by their nearest neighbours in another one.

#include "kernels/problems/knn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/memory.hpp"
#include "harness/apps/io/scale.hpp"
#include "harness/apps/io/split.hpp"
#include "harness/apps/io/table_summary.hpp"
#include "harness/cli/command.hpp"
#include "harness/cli/device_option.hpp"
#include "harness/cli/knn_report.hpp"
#include "harness/cli/knn_session.hpp"
#include "harness/cli/print_json.hpp"
#include "harness/cli/standard_output.hpp"
#include "harness/files/replaced_file.hpp"
#include "harness/files/same_file.hpp"
#include "harness/sweep/clock.hpp"
#include "harness/sweep/progress.hpp"
#include "harness/text/counted.hpp"
#include "harness/text/to_stderr.hpp"
#include "kernels/api/device_state.hpp"
#include "kernels/device/runtime.hpp"

namespace espalier::bench::cli {
namespace {

struct KnnOptions {
    std::string train, test, data;
    double split = 0.3;
    std::uint64_t seed = 1;
    std::uint64_t test_rows = 0;  ///< 0: a random split
    io::TableOptions table;
    std::string delimiter = ",", decimal = ".";
    bool header = false, no_header = false, regression = false;
    std::string metric = "auto", weights = "uniform", scale = "none", unknown = "error", device = "auto", variant,
                output;
    std::int64_t k = 5;
    std::uint64_t memory = 0;  ///< 0: half of what the device has
    bool neighbours = false, explain = false, json = false, quiet = false;
};

/// The training table and the chunks of the test table, wherever they come from.
struct Input {
    io::Table train;
    std::vector<std::size_t> train_numbers, test_numbers;  ///< rows of their files, from 0; empty: all, in their order
    bool truth_known = false;
    std::size_t test_rows = 65536;                     ///< if known beforehand
    std::function<bool(io::Rows&, std::size_t)> read;  ///< the next chunk of at most so many rows; false at the end
    std::function<double()> share;                     ///< of the test rows, what is read; 0 if nobody knows
    std::shared_ptr<const io::TableReader> reader;     ///< of a test table in a file of its own
    std::optional<io::StandardScale> scale;            ///< of the training rows, for the test rows

    [[nodiscard]] std::int64_t unknown_cells() const {
        std::int64_t cells = 0;
        if (reader)
            for (const io::Column& column : reader->schema().attributes) cells += column.unknown;
        return cells;
    }
};

/// What a chunk of test rows is, and the share of them that was read with it.
struct Chunk {
    io::Rows rows;
    double share;
};

/// The training table, and on stderr what it was taken for.
io::Table read_training(const KnnOptions& options, const std::string& path) {
    io::Table table = io::read_table(path, options.table);
    constexpr std::size_t kMostLines = 20;
    if (!options.quiet)
        for (const std::string& line : io::summary_of(path, table, options.explain ? SIZE_MAX : kMostLines))
            to_stderr("{}\n", line);
    return table;
}

void read_two_files(const KnnOptions& options, Input& input) {
    input.train = read_training(options, options.train);
    input.train_numbers = std::move(input.train.numbers);
    const auto reader = std::make_shared<io::TableReader>(options.test, options.table, input.train.schema);
    input.truth_known = reader->schema().has_label;
    input.read = [reader](io::Rows& chunk, std::size_t rows) { return reader->read(chunk, rows); };
    input.share = [reader] { return reader->share(); };
    input.reader = reader;
}

/// The rows' numbers in their file, from their numbers among the rows that were kept of it.
std::vector<std::size_t> numbers_in_file(std::vector<std::size_t> rows, const std::vector<std::size_t>& numbers) {
    if (!numbers.empty())
        for (std::size_t& row : rows) row = numbers[row];
    return rows;
}

io::Split split_of(const KnnOptions& options, std::size_t rows) {
    if (rows < 2) throw io::BadFile(options.data, "has one row, and a split needs two");
    if (options.test_rows == 0) return io::random_split(rows, options.split, options.seed);
    if (options.test_rows >= rows)
        throw Failure(ExitCode::usage, fmt::format("--test-rows {} leaves nothing to train on: {} has {}",
                                                   options.test_rows, options.data, counted(rows, "row")));
    return io::tail_split(rows, options.test_rows);
}

void split_one_file(const KnnOptions& options, Input& input) {
    io::Table table = read_training(options, options.data);
    io::Split split = split_of(options, table.rows.size());
    const auto test = std::make_shared<io::Rows>(io::take(table.rows, split.test));
    input.train = {table.schema, io::take(table.rows, split.train), table.header, table.unlabelled};
    input.train_numbers = numbers_in_file(std::move(split.train), table.numbers);
    input.test_numbers = numbers_in_file(std::move(split.test), table.numbers);
    input.truth_known = true;
    input.test_rows = test->size();
    const auto next = std::make_shared<std::size_t>(0);
    input.read = [test, next](io::Rows& chunk, std::size_t rows) {
        std::vector<std::size_t> numbers;
        for (; *next < test->size() && numbers.size() < rows; ++*next) numbers.push_back(*next);
        chunk = io::take(*test, numbers);
        return !numbers.empty();
    };
    input.share = [test, next] { return static_cast<double>(*next) / static_cast<double>(test->size()); };
}

/// Scales the training rows; the test rows follow chunk by chunk, by the training rows' mean and deviation.
void scale(const KnnOptions& options, Input& input) {
    if (options.scale == "none") return;
    const std::string& path = options.data.empty() ? options.train : options.data;
    input.scale.emplace(path, input.train.schema, input.train.rows);
    input.scale->apply(path, input.train.rows);
    input.read = [&input, path = options.data.empty() ? options.test : path, read = input.read](io::Rows& chunk,
                                                                                                std::size_t rows) {
        if (!read(chunk, rows)) return false;
        input.scale->apply(path, chunk);
        return true;
    };
}

Metric metric_of(const std::string& name, const io::Schema& schema) {
    const auto known = std::find(std::begin(distance::kMetricNames), std::end(distance::kMetricNames), name);
    if (known != std::end(distance::kMetricNames))
        return static_cast<Metric>(known - std::begin(distance::kMetricNames));
    const bool nominal = std::any_of(schema.attributes.begin(), schema.attributes.end(),
                                     [](const auto& column) { return column.kind == io::ColumnKind::nominal; });
    return nominal ? Metric::mixed_euclidean : Metric::euclidean;
}

std::size_t default_memory(const Device& device) {
    const DeviceInfo& info = state_of(device).info;
    if (info.kind == DeviceKind::cpu) return info.memory_bytes / 2;
    const CurrentDevice current(state_of(device));
    return device::memory_state().free / 2;
}

/// So few that a CPU is done with them in a second or so, to tell how far it is; a GPU needs many at a time.
std::size_t rows_at_once(const Device& device, const io::Schema& schema, std::int64_t train_rows) {
    constexpr std::size_t kLeast = 1024, kMost = 65536;
    constexpr double kProducts = 1e10;
    if (device.is_cuda()) return kMost;
    const double products_per_row = static_cast<double>(schema.attributes.size()) * static_cast<double>(train_rows);
    return static_cast<std::size_t>(std::clamp(kProducts / products_per_row, double{kLeast}, double{kMost}));
}

struct Outcome {
    KnnScore score;
    std::int64_t rows = 0;
    std::size_t rows_at_once = 0;  ///< what the memory leaves room for
    double seconds = 0;
};

/// Predicts chunk after chunk; the next one is read while this one is computed.
Outcome predict_all(Input& input, KnnSession& session, PredictionWriter* writer, std::size_t rows_per_chunk,
                    bool quiet) {
    const double start = steady_seconds();
    const auto read_ahead = [&] {
        return std::async(std::launch::async, [&input, rows_per_chunk]() -> std::optional<Chunk> {
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
        const Predictions predictions = session.predict(chunk->rows);
        outcome.rows += static_cast<std::int64_t>(chunk->rows.size());
        outcome.score.add(predictions, chunk->rows);
        if (writer) writer->write(predictions, chunk->rows, input.test_numbers, input.train_numbers);
        progress.show(counted(outcome.rows, "row"), chunk->share);
    }
    outcome.seconds = steady_seconds() - start;
    return outcome;
}

nlohmann::ordered_json as_json(const Input& input, const KnnSession& session, const KnnSettings& settings,
                               const Device& device, const Outcome& outcome) {
    nlohmann::ordered_json json{{"rows", outcome.rows},
                                {"train_rows", session.train_rows()},
                                {"skipped_rows", input.train.unlabelled.rows},
                                {"attributes", input.train.schema.attributes.size()},
                                {"k", settings.k},
                                {"metric", distance::kMetricNames[static_cast<std::size_t>(settings.metric)]},
                                {"vote", knn::kVoteNames[static_cast<std::size_t>(settings.vote)]},
                                {"task", knn::kTaskNames[static_cast<std::size_t>(settings.task)]},
                                {"scale", input.scale ? "standard" : "none"},
                                {"unknown_cells", input.unknown_cells()},
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

void tell(const KnnOptions& options, const Input& input, const KnnSession& session, const Device& device,
          const Outcome& outcome) {
    if (options.quiet) return;
    const auto& attributes = input.train.schema.attributes;
    to_stderr("{} against {}, {}, by {} on {} in {:.3f} s\n", counted(outcome.rows, "row"), session.train_rows(),
              counted(attributes.size(), "attribute"), session.ran(), device.key(), outcome.seconds);
    if (input.reader) tell_unknown(input.reader->schema());
    if (outcome.score.unanswered() > 0)
        to_stderr("rows that share no known attribute with any training row: {}; their prediction is ?\n",
                  outcome.score.unanswered());
}

/// Checks the options against each other, and completes those of the tables.
void validate(KnnOptions& options) {
    using H = io::TableOptions::Header;
    const bool two = !options.train.empty() || !options.test.empty();
    if (two == !options.data.empty() || (two && (options.train.empty() || options.test.empty())))
        throw Failure(ExitCode::usage, "give either --train and --test, or --data to split one table");
    if (!(options.split > 0 && options.split < 1))
        throw Failure(ExitCode::usage, "--split is the share of rows to test on, between 0 and 1: 0.3");
    if (options.k < 1 || options.k > kMaxSmallestK)
        throw Failure(ExitCode::usage, fmt::format("--k must be 1 to {}", kMaxSmallestK));
    if (options.delimiter == "tab" || options.delimiter == "\\t") options.delimiter = "\t";
    if (options.delimiter.size() != 1) throw Failure(ExitCode::usage, "--delimiter is one character, or tab");
    options.table.delimiter = options.delimiter[0];
    options.table.decimal = options.decimal[0];
    if (!(options.table.max_inflation >= 1))
        throw Failure(ExitCode::usage, "--max-inflation is how many bytes one of a .gz file may stand for, 1 or more");
    options.table.header = options.header ? H::present : options.no_header ? H::absent : H::detect;
    options.table.numeric_label = options.regression;
    options.table.ignore_unknown = options.unknown == "ignore";
    if (options.train == kStandardStream && options.test == kStandardStream)
        throw Failure(ExitCode::usage, "--train and --test cannot both be the standard input");
    if (options.json && options.output == kStandardStream)
        throw Failure(ExitCode::usage, "the predictions go to the standard output: leave out --json, or -o -");
    if (options.table.label == "none")
        throw Failure(ExitCode::usage, "a training table needs a label: name its column with --label");
}

void run_knn(KnnOptions& options) {
    validate(options);
    refuse_same_files({{"-o", options.output}},
                      {{"--train", options.train}, {"--test", options.test}, {"--data", options.data}});
    const Device device = device_of(options.device);
    const std::size_t memory = options.memory > 0 ? options.memory : default_memory(device);
    options.table.max_bytes = options.memory > 0 ? memory : std::min(memory, io::available_memory() / 2);
    Input input;
    if (options.data.empty())
        read_two_files(options, input);
    else
        split_one_file(options, input);
    scale(options, input);

    const KnnSettings settings{.k = options.k,
                               .metric = metric_of(options.metric, input.train.schema),
                               .vote = options.weights == "distance" ? Vote::distance_weighted : Vote::majority,
                               .task = options.regression ? Task::regression : Task::classification,
                               .variant = options.variant,
                               .neighbours = options.neighbours,
                               .memory = memory};
    KnnSession session(device, input.train.schema, std::move(input.train.rows), settings);
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

void add_table_options(Command& command, KnnOptions& options) {
    const Option train =
        command.add_option("--train", options.train, "training table, CSV (.gz too); - is the standard input");
    const Option test =
        command.add_option("--test", options.test, "table to predict for; its label column may be absent");
    command.add_option("--data", options.data, "one table to split into both").excludes(train).excludes(test);
    const Option last =
        command.add_option("--test-rows", options.test_rows, "with --data: test on so many last rows instead")
            .positive()
            .excludes(train)
            .excludes(test);
    command.add_option("--split", options.split, "with --data: share of random rows to test on")
        .capture_default_str()
        .excludes(train)
        .excludes(test)
        .excludes(last);
    command.add_option("--seed", options.seed, "with --data: seed of the random split")
        .capture_default_str()
        .excludes(train)
        .excludes(test)
        .excludes(last);
    command.add_option("--label", options.table.label, "label column: name, number from 1, or last")
        .capture_default_str();
    command.add_option("--nominal", options.table.nominal, "columns to compare for equality although they hold numbers")
        .delimiter(',');
    command.add_option("--ignore", options.table.ignored, "columns to leave out").delimiter(',');
    command.add_option("--delimiter", options.delimiter, "between fields: a character, or tab").capture_default_str();
    command.add_option("--decimal", options.decimal, "what stands before the decimals of a number: . or ,")
        .one_of({".", ","})
        .capture_default_str();
    command
        .add_option("--missing", options.table.missing,
                    "words for an unknown value (default: ? - NA N/A null None nan, in any case)")
        .delimiter(',');
    command
        .add_option("--max-inflation", options.table.max_inflation,
                    "refuse a .gz file that unpacks to more than so many times its size")
        .capture_default_str();
    command
        .add_option("--unknown", options.unknown,
                    "a test row's nominal value that no training row has: an error, or ignore: it equals none")
        .one_of({"error", "ignore"})
        .capture_default_str();
    const Option header =
        command.add_flag("--header", options.header, "the first line is a header, even with numbers in it");
    command.add_flag("--no-header", options.no_header, "the first line is data, even without numbers in it")
        .excludes(header);
}

}  // namespace

void add_knn(Command& app, ExitCode&) {
    const auto options = std::make_shared<KnnOptions>();
    Command command = app.add_subcommand("knn", "Predicts classes or numbers by the k nearest neighbours");
    add_table_options(command, *options);
    command.add_option("-k,--k", options->k, "neighbours that vote").capture_default_str();
    command.add_option("--metric", options->metric, "auto is euclidean, or mixed_euclidean if a column is nominal")
        .one_of({"auto", "euclidean", "mixed_euclidean", "manhattan", "chebyshev", "cosine"})
        .capture_default_str();
    command
        .add_option("--scale", options->scale,
                    "standard: centre each number's column and divide it by its deviation, both of the training rows")
        .one_of({"none", "standard"})
        .capture_default_str();
    command.add_option("--weights", options->weights, "of votes: uniform, or distance (1 / distance)")
        .one_of({"uniform", "distance"})
        .capture_default_str();
    command.add_flag("--regression", options->regression, "the label is a number to predict, not a class");
    command.add_option("-o,--output", options->output, "CSV file of predictions; - is the standard output");
    command.add_flag("--neighbours", options->neighbours, "list the neighbours and distances there too");
    command.add_option("--device", options->device, kDeviceHelp).capture_default_str();
    command.add_option("--variant", options->variant, "force a pipeline instead of the selector's choice");
    command.add_option("--memory", options->memory, "most memory to use: 500MB, 2GiB (default: half of what is there)")
        .bytes();
    command.add_flag("--explain", options->explain, "say why this pipeline was chosen");
    command.add_flag("--json", options->json, "print what was done as JSON");
    command.add_flag("--quiet", options->quiet, "say nothing but errors");
    command.callback([options] { run_knn(*options); });
}

}  // namespace espalier::bench::cli
