#!/usr/bin/python3
"""docs/commands.md names every environment variable that anything looks at, and no other.

usage: environment_test.py SOURCES
"""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
OWN = re.compile(r'"(ESPALIER_[A-Z_]+)"')  # a name in quotes: getenv, envname, a constant that they are given
ASKED = re.compile(r'\b(?:secure_)?getenv\("([A-Z_]+)"\)|envname\("([A-Z_]+)"\)|environ(?:\.get)?[\[(]"([A-Z_]+)"')
LOOPED = re.compile(r'for \(const char\* variable : \{("[^}]*")\}\)\s*if \([^;]*getenv\(variable\)')
SHELL = re.compile(r"\$\{?(ESPALIER_[A-Z_]+)")
# popen, system and their like start a shell, of which every name with a quote in it is a command.
SHELLS = re.compile(r"(?<![\w.:])(?:std::|::)?(?:popen|system|wordexp)\s*\(|[\"']-c[\"'],|shell=True|os\.(?:system|popen)\(")


def sources(*patterns: str):
    for pattern in patterns:
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file() and path.suffix != ".md" and "selectors" not in path.parts and "__pycache__" not in path.parts:
                yield path, path.read_text(encoding="utf-8", errors="replace")


def looked_at() -> dict[str, str]:
    """Each variable and a file that asks for it."""
    found = {}
    for path, text in sources("kernels/**/*.?pp", "kernels/**/*.cu", "harness/**/*.?pp", "harness/**/*.cu", "variants/**/*.?pp",
                              "plots/*.py", "scripts/*"):
        names = [*OWN.findall(text), *(name for match in ASKED.findall(text) for name in match if name), *SHELL.findall(text)]
        for match in LOOPED.findall(text):
            names += re.findall(r'"(\w+)"', match)
        found |= {name: path.relative_to(ROOT).as_posix() for name in names}
    return found


def documented() -> set[str]:
    page = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    table = page.split("## Environment")[1].split("\n## ")[0]
    return {name for line in table.splitlines() if line.startswith("| `")
            for name in re.findall(r"`([A-Z_]+)`", line.split("|")[1])}


class Environment(unittest.TestCase):
    def test_every_variable_is_documented(self):
        found = looked_at()
        self.assertGreaterEqual(len(found), 12, found)  # or the patterns find nothing any more
        for name in ("ESPALIER_PYTHON", "ESPALIER_SELECTORS", "ESPALIER_CPU_ISA", "CUDACXX", "CUDA_HOME", "ESPALIER_JOBS"):
            self.assertIn(name, found)
        self.assertEqual({name: path for name, path in found.items() if name not in documented()}, {})

    def test_nothing_else_is(self):
        tests = {name for _, text in sources("tests/**/*.cpp") for name in OWN.findall(text)}
        self.assertEqual(documented() - set(looked_at()) - tests, set())

    def test_no_shell_is_started(self):
        started = [f"{path.relative_to(ROOT)}: {match[0]}" for path, text in
                   sources("kernels/**/*.?pp", "harness/**/*.?pp", "harness/**/*.cu", "plots/*.py", "scripts/*.py")
                   for match in SHELLS.finditer(re.sub(r"//.*", "", text))]
        self.assertEqual(started, [])


if __name__ == "__main__":
    unittest.main()
