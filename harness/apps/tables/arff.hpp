#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/apps/io/text_lines.hpp"
#include "harness/apps/tables/record_source.hpp"

namespace espalier::bench::io {

/// Whether a line is one that an ARFF file begins with.
bool begins_as_arff(std::string_view line);

/// Reads ARFF, Weka's format: `@relation`, an `@attribute` for each column (numeric, real, integer, nominal {a, b},
/// string or date), `@data` and rows, comments behind %. Names and values may stand in quotes, single or double, with
/// backslashes before quotes. `?` is a missing value. A row `{0 1.5, 3 'a b'}` is sparse: attributes from 0, and what
/// is absent is 0, or the first value of a nominal attribute, as Weka has it. Throws BadFile for values that their
/// attribute does not declare, for attributes of type relational and for weights of rows.
class ArffReader : public RecordSource {
public:
    ArffReader(std::string path, std::unique_ptr<TextSource> source) : lines_(std::move(path), std::move(source)) {}

    bool next(std::vector<std::string_view>& fields) override;
    [[nodiscard]] std::int64_t line() const override { return lines_.line(); }
    [[nodiscard]] const std::string& path() const override { return lines_.path(); }
    [[nodiscard]] double share() const override { return lines_.share(); }
    [[nodiscard]] const std::vector<DeclaredColumn>& declared() const override { return declared_; }

private:
    struct Attribute {
        std::string name, type;              ///< the latter as it stands
        std::vector<std::string> values{};   ///< of a nominal one
        std::vector<std::size_t> by_text{};  ///< their order, to look one up
    };
    struct Value {
        std::string text{};
        bool quoted = false;
    };

    void read_header();
    bool next_line(std::string_view& line);
    void declare(std::string_view rest);
    void declare_values(Attribute& attribute, std::string_view rest);
    Value take_value(std::string_view& rest, std::string_view ends) const;
    void read_dense(std::string_view line);
    void read_sparse(std::string_view line);
    void check(std::size_t attribute);

    TextLines lines_;
    bool header_read_ = false;
    std::vector<Attribute> attributes_;
    std::vector<DeclaredColumn> declared_;
    std::vector<Value> row_;
};

}  // namespace espalier::bench::io
