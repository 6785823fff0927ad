#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace espalier::bench::report {

struct PageOptions {
    std::filesystem::path results, exports, output;  ///< trees and figures; tables, by `export_records`; pages
    std::vector<std::string> devices;                ///< keys; empty means all
    bool published = false;                          ///< the source documents' figures alone, as published.html
    bool quiet = false;                              ///< keep what the page's writer prints to stdout to itself
};

/// Writes output/index.html, or published.html, from a results folder, with plots/report.py, and returns the page's
/// path. Throws `PageError` if Python, its packages or plots/ are missing, or it found no usable results.
std::filesystem::path write_page(const PageOptions& options);

/// Writes a comparison, as `espalier compare --json` prints it, as a page to `output`, with plots/compare.py. `before`
/// and `after` name the two sides. Throws as `write_page`.
void write_comparison_page(const std::string& json, const std::string& before, const std::string& after,
                           const std::filesystem::path& output);

struct FigureOptions {
    std::filesystem::path results, exports, output;  ///< trees and printed figures; tables; figures and captions
    std::string device, format;                      ///< its key; "svg", "pdf" or "png"
    bool quiet = false;                              ///< keep what plots/draw.py prints to stdout to itself
};

/// Draws a device's figures, <output>/<figure>.<format> with a caption <figure>.txt beside each, with plots/draw.py.
/// Throws as `write_page`.
void write_figures(const FigureOptions& options);

/// The figures of a format in a folder that have a caption, sorted.
std::vector<std::filesystem::path> files_of_figures(const std::filesystem::path& output, const std::string& format);

/// Why there is no page; `what()` names the fix. `bad_data()` tells results at fault from a machine that lacks
/// something.
class PageError : public std::runtime_error {
public:
    PageError(const std::string& message, bool bad_data) : std::runtime_error(message), bad_data_(bad_data) {}
    [[nodiscard]] bool bad_data() const { return bad_data_; }

private:
    bool bad_data_;
};

}  // namespace espalier::bench::report
