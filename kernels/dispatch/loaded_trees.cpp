#include "kernels/dispatch/loaded_trees.hpp"

#include <dirent.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>

#include "kernels/dispatch/families.hpp"
#include "kernels/dispatch/wisdom.hpp"
#include "kernels/json/bad_data.hpp"
#include "kernels/json/regular_file.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSelectorsVariable = "ESPALIER_SELECTORS";
constexpr std::string_view kEnding = ".tree", kEarlierEnding = ".tree.json";
constexpr std::size_t kMostFiles = 1024;

bool is_tree(const fs::path& path) {
    const std::string name = path.filename().native();
    return name.ends_with(kEnding) || name.ends_with(kEarlierEnding);
}

/// Lists a folder by the system's own calls: libstdc++'s iterator ends the program where it gets no memory.
std::vector<fs::path> entries_of(const fs::path& folder) {
    const auto failed = [&] {
        return fs::filesystem_error("folder", folder, std::error_code(errno, std::generic_category()));
    };
    const std::unique_ptr<DIR, int (*)(DIR*)> opened(opendir(folder.c_str()), closedir);
    if (!opened) throw failed();
    std::vector<fs::path> entries;
    for (errno = 0; const dirent* const entry = readdir(opened.get()); errno = 0) {
        const std::string_view name(entry->d_name);
        if (name != "." && name != "..") entries.push_back(folder / name);
    }
    if (errno != 0) throw failed();
    return entries;
}

void add_trees_of(const std::vector<fs::path>& entries, std::vector<fs::path>& files) {
    for (const fs::path& entry : entries) {
        if (!is_tree(entry)) continue;
        files.push_back(entry);
        if (files.size() > kMostFiles)
            throw BadData("it holds over " + std::to_string(kMostFiles) +
                          " trees: name the folder of one family, kernels/selectors/<family>");
    }
}

/// The files that a path stands for, in the order of their names.
std::vector<fs::path> files_of(const fs::path& path) try {
    if (!fs::is_directory(path)) return {path};
    std::vector<fs::path> files;
    const std::vector<fs::path> entries = entries_of(path);
    add_trees_of(entries, files);
    for (const fs::path& entry : entries)
        if (fs::is_directory(entry)) add_trees_of(entries_of(entry), files);
    if (files.empty())
        throw BadData(
            "there is no <device-key>.tree in this folder, nor in the folders in it: name the one that "
            "`espalier train` wrote to, kernels/selectors or results/local/selectors");
    std::ranges::sort(files);
    return files;
} catch (const BadData& error) {
    throw BadData(path.string() + ": " + error.what());
}

/// Null for a family that this program does not link: it has no use for its trees.
const KernelFamily* family_named(const std::string& name) {
    if (const KernelFamily* family = find_kernel_family(name)) return family;
    if (is_family(name)) return nullptr;
    throw BadData("it is a tree of the family '" + printable(name) + "', which this library has not; it has " +
                  family_list() + similar_family(name));
}

LoadedSelector described(const LoadedTree& tree) { return {tree.family, tree.device_key, tree.file}; }

bool same_place(const LoadedTree& a, const LoadedTree& b) {
    return a.family == b.family && a.device_key == b.device_key;
}

/// Everything that was ever loaded: nothing of it is freed, see `current_table`.
class Store {
public:
    std::vector<LoadedSelector> load(const std::string& path) {
        const std::lock_guard lock(mutex_);
        std::vector<const LoadedTree*> fresh;
        std::vector<LoadedSelector> result;
        for (const fs::path& file : files_of(path)) {
            const LoadedTree* const tree = tree_in(file);
            if (!tree) continue;
            for (const LoadedTree* other : fresh)
                if (same_place(*other, *tree))
                    throw BadData(tree->file + " and " + other->file + " are both trees of " + tree->family + " on " +
                                  tree->device_key + ": remove one");
            fresh.push_back(tree);
            result.push_back(described(*tree));
        }
        if (fresh.empty())
            throw BadData(path + ": it has trees of families alone that are not linked into this program; call a " +
                          "function of one of them, or link espalier::espalier, which has all");
        use(fresh);
        return result;
    }

    std::vector<LoadedSelector> in_use() {
        const std::lock_guard lock(mutex_);
        std::vector<LoadedSelector> result;
        for (const LoadedTree* tree : in_use_) result.push_back(described(*tree));
        return result;
    }

private:
    struct Table {
        const KernelFamily* family;
        std::vector<const LoadedTree*> trees;
        std::unique_ptr<LoadedTable> table;
    };

    /// Null if its family is not linked.
    const LoadedTree* tree_in(const fs::path& file) try {
        std::string text = read_regular_file(file, TreeLimits::kBytes);
        for (const auto& tree : trees_)
            if (tree->file == file.string() && tree->text == text) return tree.get();
        const TreeFile content = read_tree(text);
        const KernelFamily* const family = family_named(content.family);
        if (!family) return nullptr;
        auto tree = family->tree(content);
        tree->file = file.string();
        tree->text = std::move(text);
        trees_.push_back(std::move(tree));
        return trees_.back().get();
    } catch (const BadData& error) {
        throw BadData(file.string() + ": " + error.what());
    }

    const Table& table_of(const KernelFamily& family, const std::vector<const LoadedTree*>& trees) {
        for (const Table& table : tables_)
            if (table.family == &family && table.trees == trees) return table;
        tables_.push_back({&family, trees, family.table(trees)});
        return tables_.back();
    }

    /// All or, if memory does not suffice, nothing.
    void use(const std::vector<const LoadedTree*>& fresh) {
        std::vector<const LoadedTree*> in_use = fresh;
        for (const LoadedTree* tree : in_use_)
            if (std::ranges::none_of(fresh, [&](const LoadedTree* other) { return same_place(*other, *tree); }))
                in_use.push_back(tree);
        std::vector<std::pair<const KernelFamily*, const LoadedTable*>> tables;
        for (const KernelFamily& family : kernel_families()) {
            std::vector<const LoadedTree*> own;
            std::ranges::copy_if(in_use, std::back_inserter(own),
                                 [&](const LoadedTree* tree) { return tree->family == family.name; });
            if (!own.empty()) tables.emplace_back(&family, table_of(family, own).table.get());
        }
        in_use_ = std::move(in_use);
        for (const auto& [family, table] : tables) family->publish(table);
    }

    std::mutex mutex_;
    std::vector<std::unique_ptr<LoadedTree>> trees_;
    std::vector<Table> tables_;
    std::vector<const LoadedTree*> in_use_;
};

/// Never destroyed: other threads may decide while the program ends.
Store& store() {
    static Store& all = *new Store;
    return all;
}

std::vector<LoadedSelector> load(const std::string& path) try {
    return store().load(path);
} catch (const fs::filesystem_error& error) {
    if (error.code() == std::errc::not_enough_memory) throw std::bad_alloc();
    throw BadData(path + " cannot be read: " + error.code().message());
}

/// The ignored part of ESPALIER_SELECTORS, once it has been read. Never changed nor destroyed afterwards: any thread
/// may read it at any time, also while the program ends.
std::atomic<const std::string*> ignored{nullptr};

/// Loads all that can be, and tells of the rest.
std::string load_listed(std::string_view paths) {
    std::string lines;
    while (!paths.empty()) {
        const auto path = paths.substr(0, paths.find(':'));
        paths.remove_prefix(std::min(paths.size(), path.size() + 1));
        if (path.empty()) continue;
        try {
            load(std::string(path));
        } catch (const BadData& error) {
            lines.append(lines.empty() ? "" : "\n").append(kSelectorsVariable).append(": ").append(error.what());
        }
    }
    return lines;
}

}  // namespace

void detail::read_selectors_of_environment() {
    static std::once_flag once;  // a call that throws, for want of memory, is not the one
    std::call_once(once, [] {
        const char* const paths = std::getenv(kSelectorsVariable);
        auto lines = std::make_unique<const std::string>(paths ? load_listed(paths) : "");
        read_wisdom_of_environment();
        ignored.store(lines.release(), std::memory_order_release);
        environment_was_read.store(true, std::memory_order_release);
    });
}

const std::string& ignored_selectors() {
    load_selectors_of_environment();
    return ignored_selectors_so_far();
}

const std::string& ignored_selectors_so_far() {
    static const std::string nothing;
    const std::string* const lines = ignored.load(std::memory_order_acquire);
    return lines ? *lines : nothing;
}

std::vector<LoadedSelector> load_trees(const std::string& path) {
    load_selectors_of_environment();
    return load(path);
}

std::vector<LoadedSelector> trees_in_use() {
    load_selectors_of_environment();
    return store().in_use();
}

}  // namespace espalier
