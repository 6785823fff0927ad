// Writes the tables of two trees of the synthetic family, which the build compiles into tree_text_test: of the one that
// its results give, and of one whose tests are about pairs of sizes. By way of their files, as for a real family.

#include "harness/bench/emit/tree_text.hpp"
#include "harness/bench/records/atomic_file.hpp"
#include "harness/bench/train/train.hpp"
#include "kernels/tables/tree_tables.hpp"
#include "tests/bench/synthetic/family.hpp"

int main(int, char** argv) {
    namespace bench = espalier::bench;
    namespace synthetic = bench::synthetic;
    const auto records = synthetic::records(synthetic::regions, synthetic::problems());
    auto trained = bench::learn::train(synthetic::family(), synthetic::device(), records, {.evaluate = false});
    const auto first = espalier::read_tree(bench::learn::tree_text(trained, synthetic::device()));

    trained.tree = synthetic::tree_of_pairs(trained.evidence.matrix);
    auto device = synthetic::device();
    device.key = "cpu-pairs";
    const std::vector trees{espalier::read_tree(bench::learn::tree_text(trained, device)), first};
    const auto family =
        espalier::tables::source_of<espalier::synthetic::Problem>("synthetic", "kernels/problems/synthetic.hpp");
    bench::write_file_atomically(argv[1], espalier::tables::tree_tables(family, trees));
}
