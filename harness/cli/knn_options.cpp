#include "harness/cli/knn_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "espalier/smallest_k.hpp"
#include "harness/apps/io/number.hpp"
#include "harness/base/files/replaced_file.hpp"
#include "harness/cli/device_option.hpp"

namespace espalier::bench::cli {
namespace {

void add_tables(CLI::App& command, KnnOptions& options) {
    CLI::Option* const train =
        command.add_option("--train", options.train, "training table, CSV (.gz too); - is the standard input");
    CLI::Option* const test =
        command.add_option("--test", options.test, "table to predict for; its label column may be absent");
    command.add_option("--data", options.data, "one table to split into both")->excludes(train)->excludes(test);
    CLI::Option* const last =
        add_number(command, "--test-rows", options.test_rows, "with --data: test on so many last rows instead")
            ->check(positive())
            ->excludes(train)
            ->excludes(test);
    command
        .add_flag("--leave-one-out", options.leave_one_out,
                  "with --data: predict each row by all others, in place of a split")
        ->excludes(train)
        ->excludes(test)
        ->excludes(last);
    add_number(command, "--split", options.split, "with --data: share of random rows to test on")
        ->capture_default_str()
        ->excludes(train)
        ->excludes(test)
        ->excludes(last);
    add_number(command, "--seed", options.seed, "with --data: seed of the random split")
        ->capture_default_str()
        ->excludes(train)
        ->excludes(test)
        ->excludes(last);
}

void add_table_options(CLI::App& command, KnnOptions& options) {
    command.add_option("--label", options.table.label, "label column: name, number from 1, or last")
        ->capture_default_str();
    command
        .add_option("--nominal", options.table.nominal, "columns to compare for equality although they hold numbers")
        ->delimiter(',');
    command
        .add_option("--numeric", options.table.numeric,
                    "columns to read as numbers although they have units ($12, 12%, (12)) or are dates: in days")
        ->delimiter(',');
    command.add_option("--ignore", options.table.ignored, "columns to leave out")->delimiter(',');
    command
        .add_option("--format", options.format,
                    "of the files; auto tells ARFF and libsvm by their first lines or names, and takes others for CSV")
        ->check(one_of({"auto", "csv", "arff", "libsvm"}))
        ->capture_default_str();
    command.add_option("--delimiter", options.delimiter, "between fields: a character, tab, or blanks: any number")
        ->capture_default_str();
    command.add_option("--decimal", options.decimal, "what stands before the decimals of a number: . or ,")
        ->check(one_of({".", ","}))
        ->capture_default_str();
    command
        .add_option("--thousands", options.thousands, "what stands between groups of digits: , . ' _ space, or none")
        ->check(one_of({"none", ",", ".", "'", "_", "space"}))
        ->capture_default_str();
    command.add_option("--comment", options.comment, "the character that begins a line that is a comment: '#'");
    command
        .add_option("--missing", options.table.missing,
                    "words for an unknown value (default: ? - NA N/A null None nan, in any case)")
        ->delimiter(',');
    add_number(command, "--max-inflation", options.table.max_inflation,
               "refuse a .gz file that unpacks to more than so many times its size")
        ->capture_default_str();
    command
        .add_option("--unknown", options.unknown,
                    "a test row's nominal value that no training row has: an error, or ignore: it equals none")
        ->check(one_of({"error", "ignore"}))
        ->capture_default_str();
    command
        .add_option("--unknown-labels", options.unknown_labels,
                    "a test row's class that no training row has: an error, or counted as wrong")
        ->check(one_of({"error", "wrong"}))
        ->capture_default_str();
    CLI::Option* const header =
        command.add_flag("--header", options.header, "the first line is a header, even with numbers in it");
    command.add_flag("--no-header", options.no_header, "the first line is data, even without numbers in it")
        ->excludes(header);
}

/// The character that an option's word stands for.
char character(const std::string& word, const char* option, const char* allowed) {
    if (word == "tab" || word == "\\t") return '\t';
    if (word == "blanks") return io::kRunsOfBlanks;
    if (word == "space") return ' ';
    constexpr std::string_view kNone = "\"\r\n";
    if (word.size() != 1 || kNone.find(word[0]) != std::string_view::npos)
        throw Failure(ExitCode::usage, fmt::format("{} is {}", option, allowed));
    return word[0];
}

void parse_choose_k(KnnOptions& options) {
    for (const std::string& word : options.choose_k) {
        std::int64_t k = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), k);
        // One neighbour more is found: the row itself.
        if (error != std::errc{} || end != word.data() + word.size() || k < 1 || k >= kMaxSmallestK)
            throw Failure(ExitCode::usage,
                          fmt::format("--choose-k takes numbers from 1 to {} with commas between them: 1,3,5,7",
                                      kMaxSmallestK - 1));
        options.ks.push_back(k);
    }
    std::sort(options.ks.begin(), options.ks.end());
    options.ks.erase(std::unique(options.ks.begin(), options.ks.end()), options.ks.end());
}

void complete_table_options(KnnOptions& options) {
    using H = io::TableOptions::Header;
    io::TableOptions& table = options.table;
    table.delimiter = character(options.delimiter, "--delimiter", "one character, tab or blanks, and no quote");
    table.decimal = options.decimal[0];
    using F = io::TableOptions::Format;
    table.format_of_file = options.format == "csv"      ? F::csv
                           : options.format == "arff"   ? F::arff
                           : options.format == "libsvm" ? F::libsvm
                                                        : F::detect;
    if (options.thousands != "none") table.thousands = character(options.thousands, "--thousands", "one character");
    if (table.thousands == table.decimal)
        throw Failure(ExitCode::usage,
                      fmt::format("--thousands and --decimal are both '{}'; one of them is another", table.decimal));
    if (!options.comment.empty()) {
        table.comment = character(options.comment, "--comment", "one character, and no quote");
        if (table.comment == table.delimiter || table.comment == ' ' || table.comment == '\t')
            throw Failure(ExitCode::usage, "--comment is a character that does not stand between fields");
    }
    if (!(table.max_inflation >= 1))
        throw Failure(ExitCode::usage, "--max-inflation is how many bytes one of a .gz file may stand for, 1 or more");
    table.header = options.header ? H::present : options.no_header ? H::absent : H::detect;
    table.numeric_label = options.regression;
    table.ignore_unknown = options.unknown == "ignore";
    table.unheard_labels = options.unknown_labels == "wrong";
}

}  // namespace

void add_knn_options(CLI::App& command, KnnOptions& options) {
    add_tables(command, options);
    add_table_options(command, options);
    CLI::Option* const k = add_number(command, "-k,--k", options.k, "neighbours that vote")->capture_default_str();
    command
        .add_option("--choose-k", options.choose_k,
                    "take of these numbers of neighbours the one that predicts each training row best by all others: "
                    "1,3,5,7")
        ->delimiter(',')
        ->excludes(k);
    command
        .add_option("--radius", options.radius_text,
                    "let all rows at this distance or less vote, in place of k; a row without any is predicted ?")
        ->excludes(k);
    command.add_option("--metric", options.metric, "auto is euclidean, or mixed_euclidean if a column is nominal")
        ->check(one_of({"auto", "euclidean", "mixed_euclidean", "manhattan", "chebyshev", "cosine", "minkowski",
                        "haversine", "hamming"}))
        ->capture_default_str();
    add_number(command, "--p", options.p, "of --metric minkowski: (sum of |x - y|^p)^(1/p), 1 or more")
        ->capture_default_str();
    command
        .add_option("--angles", options.angles,
                    "of --metric haversine: what the latitude and the longitude, in this order, are in")
        ->check(one_of({"degrees", "radians"}))
        ->capture_default_str();
    command
        .add_option("--attribute-weights", options.attribute_weights,
                    "multiply these columns before rows are compared, 0 leaves one out: age=2,height=0.5")
        ->delimiter(',');
    command
        .add_option("--scale", options.scale,
                    "standard: centre each number's column and divide it by its deviation, both of the training rows")
        ->check(one_of({"none", "standard"}))
        ->capture_default_str();
    command.add_option("--weights", options.weights, "of votes: uniform, or distance (1 / distance)")
        ->check(one_of({"uniform", "distance"}))
        ->capture_default_str();
    command.add_flag("--regression", options.regression, "the label is a number to predict, not a class");
    command.add_option("-o,--output", options.output, "CSV file of predictions; - is the standard output");
    command.add_flag("--neighbours", options.neighbours, "list the neighbours and distances there too");
    command.add_flag("--probabilities", options.probabilities, "give each class's share of the votes there too");
    command.add_option("--device", options.device, kDeviceHelp)->capture_default_str();
    command.add_option("--variant", options.variant, "force a pipeline instead of the selector's choice");
    add_size(command, "--memory", options.memory, "most memory to use: 500MB, 2GiB (default: half of what is there)");
    command.add_flag("--explain", options.explain, "say why this pipeline was chosen");
    command.add_flag("--json", options.json, "print what was done as JSON");
    command.add_flag("--quiet", options.quiet, "say nothing but errors");
}

void validate(KnnOptions& options) {
    const bool two = !options.train.empty() || !options.test.empty();
    if (two == !options.data.empty() || (two && (options.train.empty() || options.test.empty())))
        throw Failure(ExitCode::usage, "give either --train and --test, or --data to split one table");
    if (!(options.split > 0 && options.split < 1))
        throw Failure(ExitCode::usage, "--split is the share of rows to test on, between 0 and 1: 0.3");
    if (options.k < 1) throw Failure(ExitCode::usage, "--k must be 1 or more");
    if (!options.radius_text.empty()) {
        options.radius = io::parse_number(options.radius_text);
        if (!options.radius || !(*options.radius >= 0))
            throw Failure(ExitCode::usage, "--radius is a distance, 0 or more: 0.5");
    }
    if (options.radius && !options.choose_k.empty())
        throw Failure(ExitCode::usage,
                      "--choose-k chooses a number of neighbours, and --radius takes all within it: "
                      "leave one of them out");
    if (!(options.p >= 1)) throw Failure(ExitCode::usage, "--p is 1 or more: below, the sum is no distance");
    parse_choose_k(options);
    if (options.probabilities && options.regression)
        throw Failure(ExitCode::usage, "--probabilities are those of classes; leave out --regression, or them");
    if (options.leave_one_out && options.data.empty())
        throw Failure(ExitCode::usage,
                      "--leave-one-out predicts the rows of one table by each other: give it as --data");
    if (options.leave_one_out && options.scale != "none")
        throw Failure(ExitCode::usage,
                      "--leave-one-out would need a scale of its own for each row; leave out --scale, or scale the "
                      "table beforehand");
    if (options.leave_one_out && !options.choose_k.empty())
        throw Failure(ExitCode::usage,
                      "--choose-k chooses by leaving each row out; the same rows say too much good of it then: leave "
                      "out --leave-one-out, or give --k");
    complete_table_options(options);
    if (options.train == kStandardStream && options.test == kStandardStream)
        throw Failure(ExitCode::usage, "--train and --test cannot both be the standard input");
    if (options.json && options.output == kStandardStream)
        throw Failure(ExitCode::usage, "the predictions go to the standard output: leave out --json, or -o -");
    if (options.table.label == "none")
        throw Failure(ExitCode::usage, "a training table needs a label: name its column with --label");
}

}  // namespace espalier::bench::cli
