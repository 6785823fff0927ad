#pragma once

namespace espalier::bench::cli {

/// The `espalier` command line, from its arguments to its exit code: what `main` is elsewhere.
int run_program(int argc, char** argv);

}  // namespace espalier::bench::cli
