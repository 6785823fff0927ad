#!/usr/bin/python3
"""The reference pages are written without a warning, and what is not documented is an error.

usage: reference_test.py DOXYGEN DOXYFILE HEADERS SCRATCH     exits with 77 where there is no Doxygen
"""

import pathlib
import shutil
import subprocess
import sys

# Of which header what is left out, and what Doxygen then names.
OMISSIONS = [
    ("dot.hpp", "of `elements` numbers", "of numbers", "elements"),
    ("dot.hpp", "written to the one at `result`", "written to the one", "result"),
    ("dot.hpp", "/// Dot products of vectors of one length.", "", "DotProductPlan"),
    ("dot.hpp", "    /// Does what `dot_product` does.\n", "", "run"),
    ("error.hpp", "///< the kind of failure", "", "code"),
    ("knn.hpp", "for so many `queries` of a `layout`", "for some `queries`", "layout"),
    ("device.hpp", "/// GPU `ordinal`,", "/// A GPU,", "cuda"),
    ("c/arrays.h", " * @param side 3, 5 or 7", " * 3, 5 or 7", "side"),
    ("c/general.h", "@return bytes, in", "Bytes, in", "espalier_plan_workspace_bytes"),
    ("c/types.h", "/**< in pixels */", "", "width"),
]


def run(doxygen: str, doxyfile: str, settings: str) -> tuple[int, str]:
    done = subprocess.run([doxygen, "-"], input=f"@INCLUDE = {doxyfile}\n{settings}", text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def main() -> int:
    doxygen, doxyfile, headers, scratch = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    if not pathlib.Path(doxygen).is_file():
        print("skipped: there is no doxygen; scripts/setup test installs it")
        return 77
    pages = headers.parents[1] / "docs" / "reference" / "pages.dox"  # documents the namespace, or nothing in it is looked at
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    failures = 0
    code, text = run(doxygen, doxyfile, f"OUTPUT_DIRECTORY = {scratch}/whole")
    page = scratch / "whole" / "html" / "namespaceespalier.html"
    if code != 0 or text or not page.is_file() or "inner product of two vectors" not in page.read_text():
        print(f"exit code {code}, {page}:\n{text}")
        failures += 1
    for header, before, after, named in OMISSIONS:
        changed = scratch / "changed" / "espalier" / header
        changed.parent.mkdir(parents=True, exist_ok=True)
        content = (headers / "espalier" / header).read_text()
        if before not in content:
            print(f"{header} no longer has '{before}': choose another omission")
            failures += 1
        changed.write_text(content.replace(before, after, 1))
        code, text = run(doxygen, doxyfile, f"OUTPUT_DIRECTORY = {scratch}/part\nINPUT = {changed} {pages}")
        if code == 0 or named not in text:
            print(f"{header} without '{before}' is accepted, exit code {code}:\n{text}")
            failures += 1
        changed.unlink()
    shutil.rmtree(scratch)
    return 1 if failures else 0


sys.exit(main())
