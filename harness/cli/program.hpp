#pragma once

namespace espalier::bench::cli {

/// The `espalier` command line, from its arguments to its exit code: what `main` is elsewhere. `prefix`: where the
/// package is installed that a program of another project was made with.
int run_program(int argc, char** argv, const char* prefix = "");

}  // namespace espalier::bench::cli
