// Writes selectors of the synthetic family, which the build compiles into emitter_test: the one that its results give,
// and one whose tests are about pairs of sizes.

#include "harness/emit/emit.hpp"
#include "harness/records/atomic_file.hpp"
#include "harness/train/train.hpp"
#include "tests/synthetic/family.hpp"

int main(int, char** argv) {
    using namespace espalier::bench;
    const auto records = synthetic::records(synthetic::regions, synthetic::problems());
    const auto trained = learn::train(synthetic::family(), synthetic::device(), records, {.evaluate = false});
    write_file_atomically(argv[1], trained.source);

    const learn::Tree pairs = synthetic::tree_of_pairs(trained.evidence.matrix);
    auto device = synthetic::device();
    device.key = "cpu-pairs";
    write_file_atomically(argv[2], learn::emit(synthetic::family(), device, trained.evidence, pairs));
}
