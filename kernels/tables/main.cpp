// usage: espalier_tree_tables FAMILY OUTPUT [TREE...]: the tables of a family's trees as C++.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/json/bad_data.hpp"
#include "kernels/json/regular_file.hpp"
#include "kernels/tables/tree_tables.hpp"

namespace {

using namespace espalier;

TreeFile tree_in(const std::string& path, const std::string& family) try {
    TreeFile tree = read_tree(read_regular_file(path, TreeLimits::kBytes));
    if (tree.family != family) throw BadData("it is a tree of " + tree.family + ", in the folder of " + family);
    return tree;
} catch (const BadData& error) {
    throw BadData(path + ": " + error.what());
}

void write_tables(const std::string& name, const std::string& output, const std::vector<std::string>& paths) {
    const std::vector<tables::FamilySource> families = tables::family_sources();
    const auto family = std::ranges::find(families, name, &tables::FamilySource::name);
    if (family == families.end()) throw BadData("there is no family " + name);
    std::vector<TreeFile> trees;
    for (const std::string& path : paths) trees.push_back(tree_in(path, name));
    std::ofstream file(output, std::ios::binary);
    file << tables::tree_tables(*family, trees);
    file.close();
    if (!file) throw BadData(output + " cannot be written");
}

}  // namespace

int main(int count, char** arguments) try {
    if (count < 3) throw BadData("usage: espalier_tree_tables FAMILY OUTPUT [TREE...]");
    write_tables(arguments[1], arguments[2], {arguments + 3, arguments + count});
    return EXIT_SUCCESS;
} catch (const std::exception& error) {
    std::fprintf(stderr, "espalier_tree_tables: error: %s\n", error.what());
    return EXIT_FAILURE;
}
