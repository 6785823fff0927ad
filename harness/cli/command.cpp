#include "harness/cli/command.hpp"

#include "kernels/core/similar_name.hpp"

namespace espalier::bench::cli {

void set_footer(CLI::App& command, const std::string& text) { command.footer(text + "\n" + kExitCodes); }

CLI::Validator one_of(const std::vector<std::string>& values) {
    return {[values](const std::string& text) -> std::string {
                SimilarName meant(text);
                for (const std::string& value : values) {
                    if (value == text) return {};
                    meant.offer(value);
                }
                return fmt::format("'{}' is none of {}{}", text, fmt::join(values, ", "), meant.question());
            },
            fmt::format("{{{}}}", fmt::join(values, ","))};
}

CLI::Validator positive() {
    return {[](const std::string& text) { return number_in(text) > 0 ? "" : "must be more than 0, not " + text; }, ""};
}

CLI::Option* add_size(CLI::App& command, const std::string& names, std::uint64_t& bytes,
                      const std::string& description) {
    const auto convert = [](std::string& text) -> std::string {
        const auto size = bytes_in(text);
        if (!size) return "'" + text + "' is no size such as 500MB (of 1000) or 2GiB (of 1024), from 1 byte on";
        text = std::to_string(*size);
        return {};
    };
    return command.add_option(names, bytes, description)->type_name("SIZE")->transform(CLI::Validator(convert, ""));
}

}  // namespace espalier::bench::cli
