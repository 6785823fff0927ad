#include "kernels/dispatch/wisdom.hpp"

#include <pthread.h>

#include <deque>
#include <map>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>

#include "espalier/version.hpp"
#include "kernels/core/printable.hpp"
#include "kernels/device/kernel_module.hpp"
#include "kernels/dispatch/appended_line.hpp"
#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/loaded_trees.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/regular_file.hpp"
#include "kernels/json/text_lines.hpp"

namespace espalier {
namespace {

constexpr const char* kWisdomVariable = "ESPALIER_WISDOM";
constexpr std::size_t kMostWisdomBytes = std::size_t{64} << 20;
constexpr const char* kMeasureAgain = ": measure it again";
constexpr std::string_view kNone = "-";

/// Asked once. No CUDA is asked, which a file that is read must not start.
const std::string& wisdom_gpu_driver() {
    static const std::string driver = [] {
        const std::string version = device::kernel_module_version();
        return version.empty() ? std::string(kNone) : version;
    }();
    return driver;
}

std::string wisdom_driver(DeviceKind kind) {
    return kind == DeviceKind::cuda ? wisdom_gpu_driver() : std::string(kNone);
}

std::string wisdom_source(std::string_view source_id) { return std::string(source_id.empty() ? kNone : source_id); }

/// Lines of a file that are of no use for one reason or another: how many, and the first.
class IgnoredLines {
public:
    void add(std::size_t line, const std::string& why) {
        if (count_++ == 0) first_ = "line " + std::to_string(line) + ": " + printable(why);
    }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    /// "w.txt: 3 damaged lines, the first is line 7: its checksum ...".
    [[nodiscard]] std::string text(const std::string& path, const char* kind) const {
        const std::string all = count_ == 1 ? std::string("a ") + kind + " line, "
                                            : std::to_string(count_) + " " + kind + " lines, the first is ";
        return printable(path) + ": " + all + first_;
    }

private:
    std::size_t count_ = 0;
    std::string first_;
};

/// Of all that is learned and loaded. A child that is forked while another thread holds it could never take it.
std::mutex wisdom_mutex;
[[maybe_unused]] const int watching_forks_of_wisdom =
    pthread_atfork([] { wisdom_mutex.lock(); }, [] { wisdom_mutex.unlock(); }, [] { wisdom_mutex.unlock(); });

/// A problem on a device, and what else a choice is for.
using WisdomPlace = std::tuple<std::string, std::string, std::string, int, bool>;
WisdomPlace wisdom_place(const WisdomEntry& entry) {
    return {entry.family, entry.device, entry.problem, entry.threads, entry.deterministic};
}

/// Everything that was ever learned or loaded: no entry is freed, since decisions refer to them.
class Wisdom {
public:
    LoadedWisdom load(const std::string& path, std::string_view text) {
        const std::lock_guard lock(wisdom_mutex);
        LoadedWisdom loaded;
        IgnoredLines damaged, stale;
        for_each_line(text, [&](std::string_view line, std::size_t number) {
            try {
                if (const auto why = use(read_wisdom_line(line)))
                    stale.add(number, *why);
                else
                    ++loaded.entries;
            } catch (const BadData& error) {
                damaged.add(number, error.what());
            }
        });
        if (!damaged.empty()) loaded.ignored = damaged.text(path, "damaged");
        if (!stale.empty()) loaded.ignored.append(loaded.ignored.empty() ? "" : "\n").append(stale.text(path, "stale"));
        say_of(path, loaded.ignored);
        return loaded;
    }

    void keep(const WisdomEntry& entry) {
        const std::lock_guard lock(wisdom_mutex);
        use(entry);
        if (file_.empty()) return;
        try {
            append_line(file_, wisdom_line(entry));
        } catch (const BadData& error) {
            say_of(file_, printable(file_) + ": " + error.what());
        }
    }

    /// Where to append from now on.
    void write_to(const std::string& path) {
        const std::lock_guard lock(wisdom_mutex);
        file_ = path;
    }

    const WisdomEntry* find(const WisdomEntry& like) {
        const std::lock_guard lock(wisdom_mutex);
        const auto found = in_use_.find(wisdom_place(like));
        return found == in_use_.end() ? nullptr : found->second;
    }

    void say(const std::string& path, const std::string& lines) {
        const std::lock_guard lock(wisdom_mutex);
        say_of(path, lines);
    }

    std::string text() {
        const std::lock_guard lock(wisdom_mutex);
        std::string text = "# Wisdom of espalier " + std::string(kVersion) + ": what plans measured, a line each.\n";
        for (const auto& [place, entry] : in_use_) text.append(wisdom_line(*entry)).append("\n");
        return text;
    }

    void forget() noexcept {
        const std::lock_guard lock(wisdom_mutex);
        for (const KernelFamily& family : kernel_families()) family.forget();
        in_use_.clear();
        stale_.clear();
        wrong_.clear();
    }

    std::vector<std::string> ignored() {
        const std::lock_guard lock(wisdom_mutex);
        std::vector<std::string> lines;
        for (const auto& [path, wrong] : wrong_) lines.push_back(wrong);
        return lines;
    }

    /// Of one problem: reasons for any number of threads.
    std::vector<std::string> stale(const std::string& family, const std::string& device, const std::string& problem) {
        const std::lock_guard lock(wisdom_mutex);
        std::vector<std::string> lines;
        for (auto at = stale_.lower_bound({family, device, problem, 0, false}); at != stale_.end(); ++at) {
            const auto& [of_family, of_device, of_problem, threads, deterministic] = at->first;
            if (of_family != family || of_device != device || of_problem != problem) break;
            lines.push_back("wisdom of this problem: " + at->second);
        }
        return lines;
    }

private:
    void say_of(const std::string& path, const std::string& lines) {
        if (lines.empty())
            wrong_.erase(path);
        else
            wrong_[path] = lines;
    }

    /// Says why the entry is of no use here, if it is not. Throws BadData for one that no library wrote.
    std::optional<std::string> use(const WisdomEntry& given) {
        const WisdomPlace place = wisdom_place(given);
        const auto before = in_use_.find(place);
        const bool is_known = before != in_use_.end();
        if (is_known && *before->second == given) return std::nullopt;
        if (!is_family(given.family)) throw BadData("this library has no family " + printable(given.family));
        // All memory is there before anybody may refer to the entry.
        const auto at = in_use_.try_emplace(place, nullptr).first;
        const auto undo = [&] {
            if (!is_known) in_use_.erase(at);
        };
        try {
            if (auto why = put_to_use(given, at->second)) {
                undo();
                if (!is_known) stale_[place] = printable(*why);
                return why;
            }
        } catch (...) {
            undo();
            throw;
        }
        stale_.erase(place);
        return std::nullopt;
    }

    std::optional<std::string> put_to_use(const WisdomEntry& given, const WisdomEntry*& in_use) {
        const WisdomEntry& entry = entries_.emplace_back(given);
        try {
            // A program that lacks a family has no use for its wisdom, and hands it on.
            const KernelFamily* const family = find_kernel_family(entry.family);
            auto why = family ? family->learn(entry) : std::nullopt;
            if (why)
                entries_.pop_back();
            else
                in_use = &entry;
            return why;
        } catch (...) {
            entries_.pop_back();
            throw;
        }
    }

    std::string file_;  ///< that what is learned is appended to; empty for none
    std::deque<WisdomEntry> entries_;
    std::map<WisdomPlace, const WisdomEntry*> in_use_;
    std::map<WisdomPlace, std::string> stale_;  ///< reasons, of problems of which nothing newer is known
    std::map<std::string, std::string> wrong_;  ///< with files, by path
};

/// Never destroyed: other threads may decide while the program ends.
Wisdom& all_wisdom() {
    static Wisdom& all = *new Wisdom;
    return all;
}

}  // namespace

std::optional<std::string> stale_wisdom(const WisdomEntry& entry, DeviceKind kind, std::string_view source_id) {
    if (entry.library != kVersion)
        return "it was measured with espalier " + entry.library + ", this is " + kVersion + kMeasureAgain;
    if (entry.driver != wisdom_driver(kind))
        return "it was measured with driver " + entry.driver + ", this is " + wisdom_driver(kind) + kMeasureAgain;
    if (entry.source != wisdom_source(source_id))
        return "the source of " + entry.variant + " has changed since it was measured" + kMeasureAgain;
    return std::nullopt;
}

void sign_wisdom(WisdomEntry& entry, DeviceKind kind, std::string_view source_id) {
    entry.driver = wisdom_driver(kind);
    entry.library = kVersion;
    entry.source = wisdom_source(source_id);
}

void read_wisdom_of_environment() {
    const std::string path = file_to_append_to(kWisdomVariable);
    if (path.empty()) return;
    all_wisdom().write_to(path);
    try {
        if (const auto text = read_regular_file_if_there(path, kMostWisdomBytes)) all_wisdom().load(path, *text);
    } catch (const BadData& error) {
        all_wisdom().say(path, printable(path) + ": " + error.what());
    }
}

LoadedWisdom use_wisdom_file(const std::string& path) {
    load_selectors_of_environment();  // with wisdom, once: no decision may do so later
    all_wisdom().forget();
    all_wisdom().write_to(path);
    try {
        const auto text = read_regular_file_if_there(path, kMostWisdomBytes);
        return text ? all_wisdom().load(path, *text) : LoadedWisdom{};
    } catch (const BadData& error) {
        throw BadData(path + ": " + error.what());
    }
}

const WisdomEntry* find_wisdom(const WisdomEntry& like) { return all_wisdom().find(like); }

LoadedWisdom load_wisdom_file(const std::string& path) {
    std::string text;
    try {
        text = read_regular_file(path, kMostWisdomBytes);
    } catch (const BadData& error) {
        throw BadData(path + ": " + error.what());
    }
    return all_wisdom().load(path, text);
}
void keep_wisdom(const WisdomEntry& entry) { all_wisdom().keep(entry); }
std::string wisdom_text() { return all_wisdom().text(); }

void forget_all_wisdom() noexcept {
    try {
        all_wisdom().forget();
    } catch (const std::bad_alloc&) {
        // There was no memory to begin with wisdom, and so there is none.
    }
}

std::vector<std::string> ignored_wisdom() { return all_wisdom().ignored(); }

std::vector<std::string> ignored_wisdom(const std::string& family, const std::string& problem,
                                        const std::string& device) {
    std::vector<std::string> lines = all_wisdom().ignored();
    for (std::string& line : all_wisdom().stale(family, device, problem)) lines.push_back(std::move(line));
    return lines;
}

}  // namespace espalier
