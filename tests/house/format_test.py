#!/usr/bin/python3
"""C++ and CUDA sources are as clang-format writes them by .clang-format.

usage: format_test.py SOURCES     exits with 77 (skipped) where clang-format 14 is not installed: others break lines elsewhere
"""

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from own_files import own_files

SKIPPED = 77
VERSION = "14"
SUFFIXES = {".c", ".cpp", ".hpp", ".h", ".cu", ".cuh"}


def main() -> int:
    program = shutil.which(f"clang-format-{VERSION}") or shutil.which("clang-format")
    version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout if program else "none"
    if not re.search(rf"version {VERSION}\.", version):
        print(f"clang-format {VERSION} is not installed ({version.strip()}): scripts/setup test")
        return SKIPPED
    root = Path(sys.argv[1])
    files = [path for path in own_files(root) if path.suffix in SUFFIXES]
    # Its own --dry-run finds fault with comments at the ends of inline namespaces that it writes itself.
    with ThreadPoolExecutor() as pool:
        written = pool.map(lambda path: subprocess.run([program, path], capture_output=True).stdout, files)
        wrong = [path.relative_to(root) for path, text in zip(files, written) if text != path.read_bytes()]
    print(f"{len(files)} files read, {len(wrong)} formatted otherwise; mend: clang-format -i FILE")
    for path in wrong:
        print(path)
    return 0 if not wrong and len(files) > 500 else 1


if __name__ == "__main__":
    sys.exit(main())
