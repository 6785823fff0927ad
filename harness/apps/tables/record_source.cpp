#include "harness/apps/tables/record_source.hpp"

#include <algorithm>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/text_source.hpp"
#include "harness/apps/tables/arff.hpp"
#include "harness/apps/tables/csv.hpp"
#include "harness/apps/tables/libsvm.hpp"

namespace espalier::bench::io {
namespace {

using TableFormat = TableOptions::Format;

std::string_view without_blanks(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// The first line that is neither empty nor a comment, which `mark` begins.
std::string_view first_line(std::string_view text, char mark) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of("\r\n"), text.size());
        const std::string_view line = without_blanks(text.substr(0, end));
        if (!line.empty() && line[0] != mark) return line;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return {};
}

bool ends_in(std::string_view path, std::initializer_list<std::string_view> endings) {
    if (path.ends_with(".gz")) path.remove_suffix(3);
    return std::ranges::any_of(endings, [&](std::string_view ending) { return path.ends_with(ending); });
}

TableFormat table_format(const std::string& path, std::string_view begin) {
    if (begins_as_arff(first_line(begin, '%')) || ends_in(path, {".arff"})) return TableFormat::arff;
    if (is_libsvm_row(first_line(begin, '#')) || ends_in(path, {".libsvm", ".svmlight", ".svm"}))
        return TableFormat::libsvm;
    return TableFormat::csv;
}

}  // namespace

const std::vector<DeclaredColumn>& RecordSource::declared() const {
    static const std::vector<DeclaredColumn> kNothing;
    return kNothing;
}

void RecordSource::fail(const std::string& problem) const {
    throw BadFile(path(), "line " + std::to_string(line()) + ": " + problem);
}

std::unique_ptr<RecordSource> open_records(const std::string& path, const TableOptions& options, std::size_t columns) {
    constexpr std::size_t kEnough = 4096;  // comments may stand before the line that tells
    auto source = std::make_unique<TextSource>(path, options.max_inflation);
    const TableFormat format = options.format_of_file == TableFormat::detect ? table_format(path, source->peek(kEnough))
                                                                             : options.format_of_file;
    if (format == TableFormat::arff) return std::make_unique<ArffReader>(path, std::move(source));
    if (format == TableFormat::libsvm)
        return std::make_unique<LibsvmReader>(path, std::move(source), columns, options.max_bytes);
    return std::make_unique<CsvReader>(path, std::move(source), options.delimiter, options.comment);
}

}  // namespace espalier::bench::io
