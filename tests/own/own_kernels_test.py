#!/usr/bin/python3
"""From an empty folder to a kernel that is chosen, with the installed package alone; typical mistakes and faults of own
variants on the way.

usage: own_kernels_test.py BUILD SOURCES WORK GENERATOR COMPILER
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

RUN = re.compile(r"for \(std::int64_t i = 0; i < problem.elements; \+\+i\) buffers.out\[i\] = 2 \* buffers.in\[i\];")
# The body of a variant's run() that does wrong, what verify-variant says of it, and what a sweep records.
FAULTS = {
    "crashes": ("*static_cast<volatile int*>(nullptr) = 0;", "crashes with SEGV", "crashed"),
    "hangs": ("for (volatile bool forever = true; forever;) {}", "does not end within 2 s", "timeout"),
    "past_the_end": ("if (problem.elements > 0) buffers.out[problem.elements] = 1;", "wrote past the output's end", "wrong"),
    "wrong": ("if (problem.elements > 0) buffers.out[0] += 1;", "wrong: out[0] is", "wrong"),
    "reads_past": ("if (problem.elements > 0) { volatile float next = buffers.in[problem.elements]; (void)next; }", "may read past their end", "crashed"),
    "keeps_memory": ("static void* volatile kept; kept = std::malloc(8);", "bytes at each run: free what it allocates", "wrong"),
}
GPU_FAULTS = {
    "gpu_reads_past": ("if (i < elements)", "if (i == 0) { volatile float next = in[elements]; (void)next; }\n    if (i < elements)",
                       "may read past their end"),
    "gpu_keeps_memory": ("const std::int64_t block", "new device::Buffer(64);\n    const std::int64_t block",
                         "bytes at each run: free what it allocates"),
}


class Test:
    def __init__(self, build: str, sources: str, work: str, generator: str, compiler: str) -> None:
        self.work, self.sources = pathlib.Path(work), pathlib.Path(sources)
        shutil.rmtree(work, ignore_errors=True)
        self.work.mkdir(parents=True)
        self.run("cmake", "--install", build, "--prefix", self.work / "first")
        self.prefix = self.work / "moved"
        (self.work / "first").rename(self.prefix)
        self.espalier = self.prefix / "bin/espalier"
        self.options = ["-G", generator, f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                        "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O0"]
        if shutil.which("ccache"):
            self.options.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")

    def run(self, *words, folder=None, code=0) -> str:
        done = subprocess.run([str(word) for word in words], cwd=folder or self.work, capture_output=True, text=True,
                              env={**os.environ, "ESPALIER_WAIT_FOR_QUIET": "0", "ESPALIER_SHARE_DEVICE": "true",
                                   "OMP_WAIT_POLICY": "passive"})
        said = done.stdout + done.stderr
        if done.returncode not in ([code] if isinstance(code, int) else code):
            sys.exit(f"{' '.join(map(str, words))} exits with {done.returncode}, not {code}:\n{said[-6000:]}")
        return said

    def build(self, folder, *words) -> None:
        self.run("cmake", "-S", folder, "-B", folder / "build", *self.options)
        self.run("cmake", "--build", folder / "build", "--parallel", "2", *words)

    def swept(self, folder) -> list[dict]:
        """The cases of a sweep of the CPU that was begun in the folder."""
        journal = next((folder / "results/journal").glob("cpu-*.jsonl")).read_text().splitlines()
        return [record["case"] for record in map(json.loads, journal) if "case" in record]

    def expect(self, said: str, wanted: str) -> None:
        if wanted not in re.sub(r"\s+", " ", said):
            sys.exit(f"this does not say '{wanted}':\n{said}")


def write_faulty(family: pathlib.Path) -> None:
    plain = (family / "variants/cpu_plain.cpp").read_text()
    for name, (fault, _, _) in FAULTS.items():
        text = RUN.sub(lambda loop: loop[0] + "\n    " + fault, plain).replace("cpu_plain", name)
        text = text.replace("Role::baseline", "Role::documented").replace("#include", "#include <cstdlib>\n#include", 1)
        (family / f"variants/{name}.cpp").write_text(text)
    plain = (family / "variants/plain.cu").read_text()
    for name, (place, fault, _) in GPU_FAULTS.items():
        text = plain.replace(place, fault).replace("Variant<Problem> plain", f"Variant<Problem> {name}")
        (family / f"variants/{name}.cu").write_text(text.replace("Role::baseline", "Role::documented").replace(
            '#include "device', '#include "kernels/device/runtime.hpp"\n#include "device', 1))


def mistakes(test: Test, family: pathlib.Path) -> None:
    """Each gets one line that names the file and the fix, before anything is compiled."""
    right = (family / "variants/cpu_plain.cpp").read_text().replace("Role::baseline", "Role::documented")

    def refused(path: str, text: str, line: str) -> None:
        (family / path).parent.mkdir(exist_ok=True)
        (family / path).write_text(text)
        test.expect(test.run("cmake", family / "build", code=1), line)
        (family / path).unlink()

    named = right.replace("cpu_plain", "cpu_other")
    refused("variants/cpu_named.cpp", named, "doubled/variants/cpu_named.cpp: it defines cpu_other(), not cpu_named(): rename")
    refused("variants/fast/cpu_other.cpp", named, "doubled/variants/fast/cpu_other.cpp: variants lie in doubled/variants/")
    (family / "variants/fast").rmdir()
    refused("variants/cpu_other.cpp", named.replace("espalier::doubled", "espalier::double"),
            "doubled/variants/cpu_other.cpp: its namespace is espalier::double: write namespace espalier::doubled")
    refused("variants/cpu-other.cpp", named, "cpu-other is no name for C++: rename it to cpu_other")
    refused("variants/cpu_other.cc", named, "doubled/variants/cpu_other.cc: variants end in .cpp or .cu")
    test.expect(test.run(test.espalier, "new", "variant", "doubled/cpu-other", code=2), "is no name of a variant")
    test.expect(test.run(test.espalier, "new", "family", "dot", code=2), "dot is a family of this program")


def faults(test: Test, family: pathlib.Path, program: pathlib.Path) -> None:
    """The fifth mistake, a wrong result, and worse ones."""
    for name, line in [*((n, f[1]) for n, f in FAULTS.items()), *((n, f[2]) for n, f in GPU_FAULTS.items())]:
        said = test.run(program, "verify-variant", f"doubled/{name}", "--timeout", "2", code=1)
        test.expect(said, line)
        test.expect(said, f"doubled/variants/{name}.")
    said = test.run(program, "sweep", "-p", "elements=1024,4096,16384", "--timeout", "2s", "--seconds", "0.2", "--no-ceilings",
                    "--verify", "once", folder=family, code=1)
    cases = test.swept(family)
    for name, (_, _, status) in FAULTS.items():
        found = {case["status"] for case in cases if case["variant"] == name}
        if found != {status}:
            sys.exit(f"the sweep records {found} of {name}, not {status}:\n{said}")
    if {case["status"] for case in cases if case["variant"] in ("cpu_plain", "cpu_again")} != {"ok"}:
        sys.exit("the right ones did not survive the others")


def main() -> None:
    test = Test(*sys.argv[1:])
    family = test.work / "doubled"
    test.run(test.espalier, "new", "family", "doubled")
    test.run(test.espalier, "new", "variant", "doubled/cpu_again")
    for path in family.rglob("*.*"):
        if len(path.read_text().splitlines()) >= 60:
            sys.exit(f"{path} is long for a beginning")
    write_faulty(family)
    test.build(family)
    program = family / "build/doubled_bench"
    test.run("ctest", "--test-dir", family / "build", "-R", "cpu_plain|cpu_again|plain")
    faults(test, family, program)
    mistakes(test, family)

    # What is left is trained on, and the library picks.
    for name in [*FAULTS, *GPU_FAULTS]:
        for path in family.glob(f"variants/{name}.c*"):
            path.unlink()
    test.run(program, "train", "--output", "selectors", "--allow-disturbed", folder=family)
    tree = next(family.glob("selectors/doubled/*.tree")).read_text()
    if any(f'"{name}"' in tree for name in FAULTS):
        sys.exit("the tree ranks a variant that was found wrong")
    test.build(family)
    said = test.run(program, "explain", "--family", "doubled", "-p", "elements=5000", folder=family)
    test.expect(said, "trained on this very device")
    print(said)


if __name__ == "__main__":
    main()
