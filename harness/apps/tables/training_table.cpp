// A training table: read whole, and only then decided what its columns are and whether its first line names them.

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "harness/apps/io/bad_file.hpp"
#include "harness/apps/io/cell.hpp"
#include "harness/apps/io/message.hpp"
#include "harness/apps/tables/cell_memo.hpp"
#include "harness/apps/tables/column_learner.hpp"
#include "harness/apps/tables/header_choice.hpp"
#include "harness/apps/tables/roles.hpp"
#include "harness/apps/tables/table.hpp"
#include "harness/apps/tables/table_records.hpp"
#include "harness/base/text/counted.hpp"

namespace espalier::bench::io {
namespace {

/// new_code[old_code] after sorting the classes.
std::vector<std::int32_t> sort_classes(std::vector<std::string>& classes, const NumberFormat& format) {
    const auto number = [&](const std::string& text) { return parse_number(text, format); };
    const bool numbers = std::all_of(classes.begin(), classes.end(), [&](const auto& text) { return number(text); });
    std::vector<std::size_t> order(classes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (numbers) {
            const Number x = *number(classes[a]), y = *number(classes[b]);
            if (x != y) return x < y;
            // Whole numbers beyond 2^53 that are one double.
            const auto by_text = std::pair(classes[a].size(), classes[a]) <=> std::pair(classes[b].size(), classes[b]);
            return x < 0 ? by_text > 0 : by_text < 0;
        }
        return classes[a] < classes[b];
    });
    std::vector<std::string> sorted(classes.size());
    std::vector<std::int32_t> new_code(classes.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        sorted[i] = classes[order[i]];
        new_code[order[i]] = static_cast<std::int32_t>(i);
    }
    classes = std::move(sorted);
    return new_code;
}

/// A column while the table is read.
struct LearntColumn {
    std::size_t position;
    ColumnLearner learner;
};

/// What most cells ask of their column, and nothing else: of thousands of columns it stays in the cache.
struct CellState {
    std::size_t position;
    bool plain, label;         ///< plain numbers are kept as themselves; it is the label
    std::int64_t numbers = 0;  ///< that the learner was not told of yet
    CellMemo memo{};           ///< of other cells
};

class TrainingReader {
public:
    TrainingReader(const std::string& path, const TableOptions& options)
        : records_(path, options), options_(records_.options()), roles_(roles_of(provisional_names(), options_, path)) {
        for (std::size_t i = 0; i < roles_.size(); ++i)
            if (roles_[i].kind != Role::Kind::ignored) columns_.push_back({i, ColumnLearner(rules_of(i))});
        for (LearntColumn& column : columns_)
            if (is_label(column)) label_ = &column;
        check_roles();
        cells_ = Cells(columns_.size() - (label_ ? 1 : 0));
        for (const LearntColumn& column : columns_)
            states_.push_back({column.position, column.learner.takes_plain_numbers(), is_label(column)});
        if (records_.first_lines().is_scikit_learn() && is_label(columns_.back()) && !options.numeric_label)
            at(columns_.back(), [&](ColumnLearner& learner) { learner.restrict_to(records_.first_lines().classes); });
    }

    Table read() {
        constexpr std::size_t kAhead = 8;  // columns
        std::vector<std::string_view> fields;
        while (records_.next(fields)) {
            if (!has_label(fields)) {
                skip_row(records_.line());
                continue;
            }
            if (cells_.is_full()) make_room();
            Number* to = cells_.add_row().data();
            for (std::size_t c = 0; c < states_.size(); ++c) {
                CellState& state = states_[c];
                if (c + kAhead < states_.size()) states_[c + kAhead].memo.prefetch();
                const std::string_view cell = fields[state.position];
                Number kept = 0;
                if (const auto number = state.plain ? plain_number(cell) : std::nullopt) {
                    ++state.numbers;
                    kept = *number;
                } else {
                    kept = keep(state, columns_[c], cell);
                }
                if (state.label)
                    labels_.push_back(kept);
                else
                    *to++ = kept;
            }
            if (unlabelled_.rows > 0) numbers_.push_back(rows_ + static_cast<std::size_t>(unlabelled_.rows));
            ++rows_;
            check_memory();
        }
        tell_learners();
        settle_first_line();
        check_labels();
        Table table;
        settle_columns();
        check_none_is_empty();
        describe(table);
        table.numbers = std::move(numbers_);
        for (LearntColumn& column : columns_) hand_over(column, table);
        table.rows.attributes = std::move(cells_);
        return table;
    }

private:
    /// Names for options and messages while it is not decided whether the first line is a header.
    std::vector<std::string> provisional_names() {
        const FirstLines& lines = records_.first_lines();
        named_ = !lines.is_scikit_learn() && looks_like_header(lines.first, options_);
        names_ = named_ ? lines.first : numbered_columns(lines.columns());  // two may be the same: of a row they are
        return names_;
    }

    ColumnRules rules_of(std::size_t position) const {
        const Role& role = roles_[position];
        const bool label = role.kind == Role::Kind::label;
        const DeclaredColumn declared = records_.declared(position);
        const bool numeric = role.amounts || (label && options_.numeric_label);
        const ColumnKind kind = numeric                                     ? ColumnKind::numeric
                                : label || role.kind == Role::Kind::nominal ? ColumnKind::nominal
                                                                            : declared.kind;
        const bool amounts = role.amounts || (declared.date && kind == ColumnKind::numeric);
        return {kind, label, position, options_.format(), &missing_, amounts};
    }

    void check_roles() const {
        const auto attributes = std::count_if(roles_.begin(), roles_.end(), [](Role role) {
            return role.kind == Role::Kind::attribute || role.kind == Role::Kind::nominal;
        });
        if (attributes == 0)
            throw BadFile(path(), "has no column to compute distances from beside the label; is the delimiter '" +
                                      std::string(1, options_.delimiter) + "' right (--delimiter)?");
    }

    [[nodiscard]] const std::string& path() const { return records_.path(); }
    [[nodiscard]] bool is_label(const LearntColumn& column) const {
        return roles_[column.position].kind == Role::Kind::label;
    }

    /// Does something with a column's learner and says of which column an error is.
    template <class Do>
    void at(LearntColumn& column, Do action) {
        try {
            action(column.learner);
        } catch (const BadCell& error) {
            const bool first = error.line() == records_.first_lines().first_line && !named_ &&
                               options_.header == TableOptions::Header::detect;
            throw BadFile(path(), "line " + std::to_string(error.line()) + ", column '" +
                                      printable(names_[column.position]) + "': " + error.what() +
                                      (first ? " (--header if this line names the columns)" : ""));
        }
    }

    Number add(LearntColumn& column, std::string_view cell, std::int64_t line) {
        const std::size_t bytes = column.learner.bytes();
        Number kept = 0;
        at(column, [&](ColumnLearner& learner) { kept = learner.add(cell, line); });
        text_bytes_ += column.learner.bytes() - bytes;
        return kept;
    }

    [[nodiscard]] std::optional<Number> plain_number(std::string_view cell) const {
        if (!options_.missing.empty() && missing_.hold(cell)) return std::nullopt;
        return parse_plain_number(cell, options_.decimal);
    }

    /// What is kept of a cell that is no plain number, which may be remembered.
    Number keep(CellState& state, LearntColumn& column, std::string_view cell) {
        constexpr std::size_t kManyColumns = 1000, kEntries = 256, kFewEntries = 8;
        if (!CellMemo::suits(cell)) return add(column, cell, records_.line());
        if (!state.memo.has_room()) state.memo.reserve(columns_.size() < kManyColumns ? kEntries : kFewEntries);
        CellMemo::Entry* const entry = state.memo.find(cell);
        if (entry != nullptr && entry->known) {
            ++entry->times;
            return entry->kept;
        }
        const Number kept = add(column, cell, records_.line());
        if (entry != nullptr && column.learner.is_name(kept)) CellMemo::remember(*entry, cell, kept);
        return kept;
    }

    /// How often came what is not told to each learner.
    void tell_learners() {
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            ColumnLearner& learner = columns_[c].learner;
            if (states_[c].numbers > 0) learner.add_again(0, states_[c].numbers);
            for (const CellMemo::Entry& entry : states_[c].memo.entries())
                if (entry.times > 0) learner.add_again(entry.kept, entry.times);
        }
        states_.clear();
    }

    /// For all rows at once, if it is known about how many there are: growing by and by, a table is there twice at
    /// times. Memory that nobody touches costs nothing.
    void make_room() {
        constexpr double kMargin = 1.1;
        const double share = records_.share();
        const std::size_t most = options_.max_bytes / sizeof(Number), now = cells_.all().size() + cells_.columns();
        std::size_t room = 2 * now;
        if (share > 0 && share < 1 && static_cast<double>(now) / share * kMargin < static_cast<double>(most))
            room = std::max(now, static_cast<std::size_t>(static_cast<double>(now) / share * kMargin));
        cells_.reserve(room);
    }

    /// Columns of texts become codes.
    void settle_columns() {
        std::size_t attribute = 0;
        for (LearntColumn& column : columns_) {
            std::vector<Number> kept;
            const bool changes = column.learner.changes_what_is_kept(), label = is_label(column);
            if (changes && !label) kept = cells_.column(attribute);
            at(column, [&](ColumnLearner& learner) { learner.settle(label ? labels_ : kept); });
            if (changes && !label) cells_.set_column(attribute, kept);
            attribute += !label;
        }
    }

    template <class Fields>
    [[nodiscard]] bool has_label(const Fields& fields) {
        if (label_ == nullptr) return true;
        const std::string_view cell = fields[label_->position];
        if (!states_.empty() && CellMemo::suits(cell)) {
            const CellMemo::Entry* const entry =
                states_[static_cast<std::size_t>(label_ - columns_.data())].memo.find(cell);
            if (entry != nullptr && entry->known) return true;
        }
        return !label_->learner.is_missing(cell);
    }

    /// Before the first row that is left out, rows are numbered as in the file.
    void skip_row(std::int64_t line) {
        if (unlabelled_.rows == 0) {
            numbers_.resize(rows_);
            std::iota(numbers_.begin(), numbers_.end(), std::size_t{0});
            unlabelled_.first_line = line;
        }
        ++unlabelled_.rows;
    }

    void check_labels() const {
        if (rows_ > 0 || unlabelled_.rows == 0) return;
        throw BadFile(path(), "no row has a label in column '" + printable(names_[label_->position]) +
                                  "'; name the right column with --label");
    }

    void check_memory() const {
        constexpr std::size_t kFewTexts = 1 << 20;
        const std::size_t row_bytes = sizeof(Number) * columns_.size() + (numbers_.empty() ? 0 : sizeof(std::size_t));
        const std::size_t texts = text_bytes_ > kFewTexts ? text_bytes_ : 0;
        const std::size_t needed = rows_ * row_bytes + texts;
        if (needed <= options_.max_bytes) return;
        const double share = records_.share();
        std::string all;
        if (share > 0 && share < 1)
            all = "; the whole file would need about " +
                  std::to_string(static_cast<std::uint64_t>(static_cast<double>(needed) / share) + 1) + " bytes";
        throw BadFile(path(), "line " + std::to_string(records_.line()) + ": up to here there are " +
                                  counted(rows_, "row") + " of " + std::to_string(row_bytes) + " bytes" +
                                  (texts > 0 ? " and " + std::to_string(texts) + " bytes of texts" : "") +
                                  ", but the memory budget is " + std::to_string(options_.max_bytes) + " bytes" + all +
                                  "; raise --memory or use fewer rows");
    }

    void settle_first_line() {
        const FirstLines& lines = records_.first_lines();
        if (lines.is_scikit_learn()) {
            header_ = "the first line names classes as scikit-learn's files do";
            return;
        }
        if (records_.declares()) {
            header_ = "the file declares its columns";
            if (rows_ == 0 && unlabelled_.rows == 0) throw BadFile(path(), "declares columns and has no rows");
            return name_columns(lines);
        }
        HeaderEvidence evidence(lines.first, options_);
        std::size_t attribute = 0;
        for (const LearntColumn& column : columns_) {
            const bool label = is_label(column);
            evidence.add(column.position, column.learner, [&] { return label ? labels_ : cells_.column(attribute); });
            attribute += !label;
        }
        const HeaderChoice choice = evidence.choose(path(), lines.first_line, rows_);
        header_ = choice.reason;
        if (choice.header) {
            if (rows_ == 0 && unlabelled_.rows == 0) throw BadFile(path(), "has a header and no rows");
            name_columns(lines);
        } else {
            named_ = false;
            names_ = numbered_columns(lines.columns());
            check_same_roles();
            take_first_line(lines);
        }
    }

    void name_columns(const FirstLines& lines) {
        named_ = true;
        names_ = named_columns(lines.first, path(), lines.first_line);
        check_same_roles();
    }

    /// A number in an option is a column's name where there is such a name: what was read by number must have been so.
    void check_same_roles() const {
        if (roles_of(names_, options_, path()) != roles_)
            throw BadFile(path(), std::string("a column that an option names by number has this number as its name, ") +
                                      "too; say --header or --no-header");
    }

    void take_first_line(const FirstLines& lines) {
        const bool labelled = has_label(lines.first);
        if (!labelled) {
            skip_row(lines.first_line);
            unlabelled_.first_line = lines.first_line;
        }
        if (unlabelled_.rows > 0) {
            for (std::size_t& number : numbers_) ++number;
            if (labelled) numbers_.insert(numbers_.begin(), 0);
        }
        if (!labelled) return;
        std::vector<Number> row;
        for (LearntColumn& column : columns_) {
            const Number kept = add(column, lines.first[column.position], lines.first_line);
            if (&column == label_)
                labels_.insert(labels_.begin(), kept);
            else
                row.push_back(kept);
        }
        cells_.add_first_row(row);
        ++rows_;
    }

    void check_none_is_empty() const {
        std::vector<std::string> names;
        std::string numbers;
        for (const LearntColumn& column : columns_) {
            if (column.learner.kind() != ColumnKind::undecided) continue;
            names.push_back("'" + printable(names_[column.position]) + "'");
            numbers.append(numbers.empty() ? "" : ",").append(std::to_string(column.position + 1));
        }
        if (names.empty()) return;
        throw BadFile(path(), (names.size() == 1 ? "column " : "columns ") + name_list(names) +
                                  (names.size() == 1 ? " has" : " have") + " no value in any of the " +
                                  counted(rows_, "row") + "; leave " + (names.size() == 1 ? "it" : "them") +
                                  " out with --ignore " + numbers);
    }

    void describe(Table& table) const {
        table.header = header_;
        table.unlabelled = unlabelled_;
        table.schema.named = named_;
        table.schema.file_columns = roles_.size();
        table.schema.numbered_classes =
            records_.first_lines().is_scikit_learn() && is_label(columns_.back()) && !options_.numeric_label;
        for (std::size_t i = 0; i < roles_.size(); ++i)
            if (roles_[i].kind == Role::Kind::ignored) table.schema.ignored.push_back({names_[i], i});
    }

    void hand_over(const LearntColumn& column, Table& table) {
        Column described{names_[column.position], column.position, column.learner.kind(), column.learner.values(),
                         column.learner.missing()};
        described.unit = column.learner.unit();
        if (!is_label(column)) {
            table.schema.attributes.push_back(std::move(described));
            return;
        }
        table.schema.has_label = true;
        if (described.kind == ColumnKind::numeric) {
            table.rows.targets = std::move(labels_);
        } else {
            std::vector<std::int32_t> new_code(described.values.size());
            std::iota(new_code.begin(), new_code.end(), 0);
            if (!table.schema.numbered_classes) new_code = sort_classes(described.values, options_.format());
            for (const Number code : labels_) table.rows.classes.push_back(new_code[static_cast<std::size_t>(code)]);
        }
        table.schema.label = std::move(described);
    }

    TableRecords records_;
    const TableOptions& options_;  ///< of the records
    MissingWords missing_{options_.missing};
    bool named_ = false;
    std::vector<std::string> names_;
    std::vector<Role> roles_;
    std::vector<LearntColumn> columns_;
    const LearntColumn* label_ = nullptr;
    std::vector<CellState> states_;  ///< one per column
    Cells cells_;                    ///< what is kept of attributes
    std::vector<Number> labels_;
    std::string header_;
    std::size_t rows_ = 0, text_bytes_ = 0;
    Unlabelled unlabelled_;
    std::vector<std::size_t> numbers_;  ///< of the rows that are kept, once one is not
};

}  // namespace

Table read_table(const std::string& path, const TableOptions& options) { return TrainingReader(path, options).read(); }

}  // namespace espalier::bench::io
