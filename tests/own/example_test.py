#!/usr/bin/python3
"""Builds examples/transpose with the package that own_kernels_test.py installed and moved, and goes from its tests to a
choice of its library; and adds a variant to a built-in family.

usage: example_test.py SOURCES WORK GENERATOR COMPILER, WORK being that of own_kernels_test.py
"""

import pathlib
import shutil
import sys

from own_kernels_test import Test


class Installed(Test):
    def __init__(self, sources: str, work: str, generator: str, compiler: str) -> None:
        self.work, self.prefix = pathlib.Path(work), pathlib.Path(work) / "moved"
        self.options = ["-G", generator, f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                        "-DCMAKE_BUILD_TYPE=Release"]
        if shutil.which("ccache"):
            self.options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
        shutil.rmtree(self.work / "transpose", ignore_errors=True)
        shutil.copytree(pathlib.Path(sources) / "examples/transpose", self.work / "transpose")


def more_variants(test: Installed) -> None:
    """A variant of somebody's own is measured beside those of a built-in family."""
    folder = test.work / "more"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    test.run(test.prefix / "bin/espalier", "new", "variant", "histogram/mine", folder=folder)
    test.build(folder)
    test.run("ctest", "--test-dir", folder / "build", "--output-on-failure")
    test.run(folder / "build/histogram_bench", "sweep", "-p", "bytes=65536", "--seconds", "0.1", "--no-ceilings", folder=folder)
    cases = test.swept(folder)
    if not {"mine", "cpu_scalar"} <= {case["variant"] for case in cases if case["status"] == "ok"}:
        sys.exit(f"mine was not measured beside cpu_scalar: {cases}")


def main() -> None:
    test = Installed(*sys.argv[1:])
    more_variants(test)
    folder = test.work / "transpose"
    test.build(folder)
    print(test.run("ctest", "--test-dir", folder / "build", "--output-on-failure"))
    program = folder / "build/transpose_bench"
    test.run(program, "sweep", "--drawn", "6", "--seconds", "0.2", "--no-ceilings", folder=folder)
    test.run(program, "train", "--output", "selectors", "--allow-disturbed", folder=folder)
    test.run(program, "report", folder=folder)
    test.build(folder)
    test.expect(test.run(folder / "build/uses_transpose"), "trained on this very device")

    # The same as a shared library, which gives others nothing but its own namespace.
    lists = folder / "CMakeLists.txt"
    lists.write_text(lists.read_text().replace("espalier_add_library(fast_transpose STATIC)",
                                               "espalier_add_library(fast_transpose SHARED)"))
    test.build(folder, "--target", "uses_transpose")
    test.expect(test.run(folder / "build/uses_transpose"), "trained on this very device")
    library = folder / "build/libfast_transpose.so"
    names = test.run("nm", "-DC", "--defined-only", library).splitlines()
    if not any("fast_transpose::transpose::run(" in name for name in names):
        sys.exit(f"{library} does not give its function to others")
    if strangers := [name for name in names if "espalier::transpose::" in name and "fast_transpose::" not in name]:
        sys.exit(f"{library} gives others what is inside: {strangers[:3]}")


if __name__ == "__main__":
    main()
