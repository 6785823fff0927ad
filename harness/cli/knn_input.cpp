#include "harness/cli/knn_input.hpp"

#include <fmt/format.h>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/tables/split.hpp"
#include "harness/apps/tables/table_summary.hpp"
#include "harness/base/text/counted.hpp"
#include "harness/base/text/to_stderr.hpp"

namespace espalier::bench::cli {
namespace {

/// What the training table was taken for, and what of it may be no intention.
void tell(const KnnOptions& options, const std::string& path, const io::Table& table) {
    constexpr std::size_t kMostLines = 20;
    for (const std::string& line : io::summary_of(path, table, options.explain ? SIZE_MAX : kMostLines))
        to_stderr("{}\n", line);
    for (const std::string& line : io::hints_of(table)) to_stderr("{}\n", line);
    const io::Schema& schema = table.schema;
    if (options.table.label == "last" && schema.label.position + 1 < schema.file_columns)
        to_stderr("hint: the label is '{}', the last column that is not left out; --label names another\n",
                  io::printable(schema.label.name));
}

/// The training table, and on stderr what it was taken for.
io::Table read_training(const KnnOptions& options, const std::string& path) {
    io::TableOptions how = options.table;
    how.ignored_elsewhere = !options.test.empty();
    io::Table table = io::read_table(path, how);
    if (!options.quiet) tell(options, path, table);
    return table;
}

void read_two_files(const KnnOptions& options, KnnInput& input) {
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

/// Lets `input` hand out rows that are there.
void read_from_memory(KnnInput& input, io::Rows rows) {
    const auto test = std::make_shared<const io::Rows>(std::move(rows));
    const auto next = std::make_shared<std::size_t>(0);
    input.truth_known = true;
    input.test_rows = test->size();
    input.read = [test, next](io::Rows& chunk, std::size_t most) {
        std::vector<std::size_t> numbers;
        for (; *next < test->size() && numbers.size() < most; ++*next) numbers.push_back(*next);
        chunk = io::take(*test, numbers);
        return !numbers.empty();
    };
    input.share = [test, next] { return static_cast<double>(*next) / static_cast<double>(test->size()); };
}

void split_one_file(const KnnOptions& options, KnnInput& input) {
    io::Table table = read_training(options, options.data);
    io::Split split = split_of(options, table.rows.size());
    auto [train, test] = io::divide(std::move(table.rows), split);
    input.train = {table.schema, std::move(train), table.header, table.unlabelled};
    input.train_numbers = numbers_in_file(std::move(split.train), table.numbers);
    input.test_numbers = numbers_in_file(std::move(split.test), table.numbers);
    read_from_memory(input, std::move(test));
}

/// The rows of one file test on each other.
void use_one_file_twice(const KnnOptions& options, KnnInput& input) {
    input.train = read_training(options, options.data);
    if (input.train.rows.size() < 2) throw io::BadFile(options.data, "has one row, and leaving one out needs two");
    input.train_numbers = input.test_numbers = input.train.numbers;
    read_from_memory(input, input.train.rows);
}

/// Scales the training rows; the test rows follow chunk by chunk, by the training rows' mean and deviation.
void scale(const KnnOptions& options, KnnInput& input) {
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

}  // namespace

std::unique_ptr<KnnInput> read_input(const KnnOptions& options) {
    auto input = std::make_unique<KnnInput>();
    if (options.data.empty())
        read_two_files(options, *input);
    else if (options.leave_one_out)
        use_one_file_twice(options, *input);
    else
        split_one_file(options, *input);
    scale(options, *input);
    return input;
}

}  // namespace espalier::bench::cli
