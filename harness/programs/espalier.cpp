#include "harness/cli/program.hpp"

int main(int argc, char** argv) { return espalier::bench::cli::run_program(argc, argv); }
