#!/usr/bin/python3
"""What the shared library exports is its interface: names in espalier::, and C's names that begin with espalier_.

usage: exports_test.py LIBRARY HEADERS

HEADERS is the folder that holds espalier/: every function that espalier.h declares must be exported.
"""

import pathlib
import re
import subprocess
import sys

OURS = re.compile(r"((typeinfo|typeinfo name|vtable|VTT|guard variable) for |(non-virtual thunk|virtual thunk) to )?"
                  r"espalier::v[0-9]+::|espalier_[a-z0-9_]+$")
DECLARED = re.compile(r"ESPALIER_C_API[^;(]*?\b(espalier_[a-z0-9_]+)\(")


def main() -> int:
    library, headers = sys.argv[1], pathlib.Path(sys.argv[2])
    lines = subprocess.run(["nm", "-DC", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    names = [line.split(" ", 2)[2] for line in lines.splitlines() if not line.split(" ", 2)[1].islower()
             or line.split(" ", 2)[1] in "wvui"]
    foreign = [name for name in names if not OURS.match(name)]
    declared = {name for file in (headers / "espalier" / "c").glob("*.h") for name in DECLARED.findall(file.read_text())}
    missing = sorted(declared - set(names))
    print(f"{len(names)} symbols, {len(declared)} of them functions of C")
    for name in foreign:
        print(f"exported, but none of the interface: {name}")
    for name in missing:
        print(f"declared in espalier.h, but not exported: {name}")
    if len(declared) < 40:
        print("the interface was not found")
        return 1
    return 1 if foreign or missing else 0


sys.exit(main())
