#!/usr/bin/python3
"""Sources are short: files of at most 500 lines, functions of at most 60. A longer one says why at its head, in a comment
that begins with `Long: `; where nothing is long, no comment says so.

usage: sizes_test.py
"""

import re
import shutil
import subprocess
import unittest

from own_files import ROOT, own_files

FILE_LINES, FUNCTION_LINES = 500, 60
HEAD = 5  # lines of a file that may say why it is long
SOURCES = {".cpp", ".hpp", ".h", ".c", ".cu", ".cuh", ".py", ".js", ".cmake"}
REASON = re.compile(r"\s*(?://|/\*|#) Long: \S")


def sources() -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in own_files()
            if path.suffix in SOURCES or path.name == "CMakeLists.txt"]


def functions(names: list[str]) -> list[tuple[str, str, int, int]]:
    """File, name, first and last line of each, as Universal Ctags finds them."""
    told = subprocess.run(
        ["ctags", "--languages=C,C++,CUDA,Python,JavaScript", "--map-C=-.h", "--map-C++=+.h", "--kinds-C=f", "--kinds-C++=f",
         "--kinds-CUDA=f", "--kinds-Python=fm", "--kinds-JavaScript=fmgC", "-D", "__launch_bounds__(...)=", "--fields=+neK",
         "--quiet", "--sort=no", "-f", "-", "-L", "-"],
        input="\n".join(names), capture_output=True, text=True, cwd=ROOT, check=True).stdout
    found = []
    for line in told.splitlines():
        name, file, rest = line.split("\t", 2)
        first, last = re.search(r"\tline:(\d+)", rest), re.search(r"\tend:(\d+)", rest)
        if first and last:
            found.append((file, name, int(first[1]), int(last[1])))
    return found


def has_ctags() -> bool:
    return bool(shutil.which("ctags")) and "Universal Ctags" in subprocess.run(
        ["ctags", "--version"], capture_output=True, text=True).stdout


class Sizes(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        cls.lines = {name: (ROOT / name).read_text(encoding="utf-8", errors="replace").splitlines() for name in sources()}

    def reason_of_file(self, name: str) -> int | None:
        """The line that says why the file is long."""
        return next((i for i, line in enumerate(self.lines[name][:HEAD]) if REASON.match(line)), None)

    def reason_of_function(self, name: str, first: int) -> int | None:
        """The line that says so of the function: in the comment above its first line, template and attributes."""
        for i in range(first - 1, max(first - 6, -1), -1):
            line = self.lines[name][i]
            if REASON.match(line):
                return i
            if not line.strip() or (i < first - 1 and line.rstrip().endswith(("}", ";"))):
                return None
        return None

    def expect_none(self, lines: dict[str, int]) -> None:
        self.assertEqual(lines, {}, "lines of what is too long: split it by subject, or say why in `Long: <reason>` above it")

    def long_files(self) -> list[str]:
        return [name for name, lines in self.lines.items() if len(lines) > FILE_LINES]

    def test_the_project_is_there(self) -> None:
        self.assertGreater(len(self.lines), 1000)

    def test_files_are_short_or_say_why(self) -> None:
        self.expect_none({name: len(self.lines[name]) for name in self.long_files() if self.reason_of_file(name) is None})

    def test_functions_are_short_or_say_why(self) -> None:
        if not has_ctags():
            self.skipTest("needs Universal Ctags (package universal-ctags)")
        found = functions(list(self.lines))
        self.assertGreater(len(found), 5000)
        told, claimed = {}, set()
        for name, function, first, last in (one for one in found if one[3] - one[2] + 1 > FUNCTION_LINES):
            reason = self.reason_of_function(name, first)
            if reason is None:
                told[f"{name} {function}"] = last - first + 1
            else:
                claimed.add((name, reason))
        self.expect_none(told)
        claimed |= {(name, self.reason_of_file(name)) for name in self.long_files()}
        said = {(name, i) for name, lines in self.lines.items() for i, line in enumerate(lines) if REASON.match(line)}
        self.assertEqual(sorted(said - claimed), [], "nothing is long there any more: the comment can go")


if __name__ == "__main__":
    unittest.main()
