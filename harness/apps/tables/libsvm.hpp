#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/io/text_lines.hpp"
#include "harness/apps/tables/record_source.hpp"

namespace espalier::bench::io {

/// Whether a line is a row of libsvm's format: a number, and then indices with values.
bool is_libsvm_row(std::string_view line);

/// Reads libsvm's (SVMlight's) sparse format: `label index:value index:value ... # comment`, indices from 1 upwards,
/// what is absent being 0. The records are dense: attributes called "1", "2", ... and last "label". A `qid:` is passed
/// over. How many attributes there are the last index of the whole file says, which is read to its end at once then; or
/// `columns`, those of the table that the rows must suit, with the label, and the file is read row by row.
class LibsvmReader : public RecordSource {
public:
    LibsvmReader(std::string path, std::unique_ptr<TextSource> source, std::size_t columns, std::size_t max_bytes);

    bool next(std::vector<std::string_view>& fields) override;
    [[nodiscard]] std::int64_t line() const override { return line_; }
    [[nodiscard]] const std::string& path() const override { return lines_.path(); }
    [[nodiscard]] double share() const override { return lines_.share(); }
    [[nodiscard]] const std::vector<DeclaredColumn>& declared() const override { return declared_; }

private:
    struct Entry {  ///< of a row: where its text is
        std::uint32_t attribute, begin, size;
    };
    struct Row {
        std::int64_t line = 0;
        std::string text{};  ///< the label, and behind it the values
        std::uint32_t label_size = 0;
        std::vector<Entry> entries{};
    };

    bool read_row(Row& row);
    void parse(std::string_view line, Row& row);
    void add_entry(std::string_view token, Row& row);
    void read_all();
    void name_columns(std::vector<std::string_view>& fields);
    void check_size() const;

    TextLines lines_;
    std::size_t max_bytes_, attributes_ = 0;
    bool given_;  ///< how many attributes there are
    std::size_t bytes_ = 0;
    std::vector<Row> rows_;
    std::size_t next_row_ = 0;
    bool named_ = false;
    std::int64_t line_ = 0;
    Row row_;
    std::vector<std::string> names_;
    std::vector<DeclaredColumn> declared_;
};

}  // namespace espalier::bench::io
