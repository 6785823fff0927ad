// Writes selectors of the synthetic family, which the build compiles into emitter_test: the one that its results give,
// and one whose tests are about pairs of sizes.

#include "harness/records/atomic_file.hpp"
#include "harness/select/emit.hpp"
#include "harness/select/ranking.hpp"
#include "harness/select/train.hpp"
#include "tests/synthetic/family.hpp"

int main(int, char** argv) {
    using namespace espalier;
    const auto records = synthetic::records(synthetic::regions, synthetic::problems());
    const auto trained = select::train(synthetic::family(), synthetic::device(), records);
    write_file_atomically(argv[1], trained.source);

    select::Tree pairs = synthetic::tree_of_pairs(trained.evidence.matrix);
    select::annotate(trained.evidence.matrix, pairs, 1);
    DeviceInfo device = synthetic::device();
    device.key = "cpu-pairs";
    write_file_atomically(argv[2], select::emit(synthetic::family(), device, trained.evidence, pairs));
}
