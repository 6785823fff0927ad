#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "harness/apps/io/cell.hpp"
#include "harness/cli/knn_options.hpp"

namespace espalier::bench::cli {
namespace {

/// The attribute that a word names: its column's name, or its number in the file from 1.
std::size_t attribute_named(const std::string& word, const io::Schema& schema) {
    const auto& attributes = schema.attributes;
    const auto named = std::ranges::find(attributes, word, &io::Column::name);
    if (named != attributes.end()) return static_cast<std::size_t>(named - attributes.begin());
    const auto numbered = std::ranges::find_if(
        attributes, [&](const io::Column& column) { return std::to_string(column.position + 1) == word; });
    if (numbered != attributes.end()) return static_cast<std::size_t>(numbered - attributes.begin());
    const bool label = schema.has_label && (word == schema.label.name);
    throw Failure(ExitCode::usage,
                  fmt::format("--attribute-weights names '{}', which is {}; name columns that rows are compared by, or "
                              "give their numbers from 1",
                              io::printable(word), label ? "the label" : "no attribute of the training table"));
}

double weight_in(const std::string& word, std::string_view number) {
    const auto weight = io::parse_number(number);
    if (!weight || !(*weight >= 0) || std::isinf(*weight))
        throw Failure(ExitCode::usage,
                      fmt::format("--attribute-weights: '{}' is no weight; write a column, = and a number that is 0 "
                                  "or more: age=2,height=0.5",
                                  io::printable(word)));
    return *weight;
}

}  // namespace

std::vector<double> attribute_weights_of(const KnnOptions& options, const io::Schema& schema) {
    if (options.attribute_weights.empty()) return {};
    std::vector<double> weights(schema.attributes.size(), 1);
    std::vector<bool> given(weights.size());
    for (const std::string& word : options.attribute_weights) {
        const auto equals = word.rfind('=');
        const double weight = weight_in(
            word, equals == std::string::npos ? std::string_view{} : std::string_view(word).substr(equals + 1));
        const std::size_t attribute = attribute_named(word.substr(0, equals), schema);
        if (given[attribute])
            throw Failure(ExitCode::usage, fmt::format("--attribute-weights names '{}' twice; give it one weight",
                                                       io::printable(schema.attributes[attribute].name)));
        given[attribute] = true;
        weights[attribute] = weight;
    }
    if (std::ranges::count(weights, 0.0) == static_cast<std::ptrdiff_t>(weights.size()))
        throw Failure(ExitCode::usage, "--attribute-weights leaves no column to compare rows by; give one more than 0");
    return weights;
}

}  // namespace espalier::bench::cli
