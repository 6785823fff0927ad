#!/usr/bin/python3
"""Builds examples/transpose with the package that own_kernels_test.py installed and moved, and goes from its tests to a
choice of its library.

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


def main() -> None:
    test = Installed(*sys.argv[1:])
    folder = test.work / "transpose"
    test.build(folder)
    print(test.run("ctest", "--test-dir", folder / "build", "--output-on-failure"))
    program = folder / "build/transpose_bench"
    test.run(program, "sweep", "--drawn", "6", "--seconds", "0.2", "--no-ceilings", folder=folder)
    test.run(program, "train", "--output", "selectors", "--allow-disturbed", folder=folder)
    test.run(program, "report", folder=folder)
    test.build(folder)
    test.expect(test.run(folder / "build/uses_transpose"), "trained on this very device")


if __name__ == "__main__":
    main()
