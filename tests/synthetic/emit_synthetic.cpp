// Writes the selector that the synthetic family's results give: the build compiles it into emitter_test.

#include "harness/records/atomic_file.hpp"
#include "harness/select/train.hpp"
#include "tests/synthetic/family.hpp"

int main(int, char** argv) {
    using namespace espalier;
    const auto records = synthetic::records(synthetic::regions, synthetic::problems());
    write_file_atomically(argv[1], select::train(synthetic::family(), synthetic::device(), records).source);
}
