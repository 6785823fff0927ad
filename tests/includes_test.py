#!/usr/bin/python3
"""No include runs back against the house: docs/architecture.md says who stands on whom.

usage: includes_test.py SOURCES
"""

import pathlib
import re
import sys

# What the files of a folder may include of the others. The longest folder that fits a path counts.
KERNELS = ["kernels", "espalier", "registries"]
MEASURING = KERNELS + ["harness/profile"]
BASE = ["harness/files", "harness/text"]
RECORDED = MEASURING + BASE + ["harness/families", "harness/records"]
MAY_INCLUDE = {
    "kernels/include": ["espalier"],
    "kernels": KERNELS,
    "variants": ["kernels", "variants"],
    "reference_cpu": ["espalier", "kernels", "reference_cpu"],
    "harness/profile": MEASURING,
    "harness/executor": MEASURING + ["harness/executor"],
    "harness/files": ["kernels/json", "harness/files"],
    "harness/text": ["kernels/core", "harness/text"],
    "harness/families": MEASURING + ["harness/families", "reference_cpu"],
    "harness/records": RECORDED,
    "harness/report": RECORDED + ["harness/report"],
    "harness/sweep": RECORDED + ["harness/sweep"],
    "harness/compare": RECORDED + ["harness/sweep", "harness/compare"],
    "harness/learn": KERNELS + ["harness/families", "harness/learn"],
    "harness/evidence": RECORDED + ["harness/sweep", "harness/learn", "harness/evidence"],
    "harness/emit": RECORDED + ["harness/learn", "harness/evidence", "harness/emit"],
    "harness/train": RECORDED + ["harness/learn", "harness/evidence", "harness/emit", "harness/train"],
    "harness/judge": RECORDED + ["harness/learn", "harness/emit", "harness/judge"],
    "harness/apps/io": BASE + ["espalier", "harness/apps/io"],
    "harness/apps/seismic": MEASURING + BASE + ["harness/families", "harness/records", "harness/apps"],
    "harness/cli": KERNELS + ["harness"],
    "harness/peers": KERNELS + ["variants", "harness/families", "harness/peers"],
    "harness/programs": KERNELS + ["harness"],
}
SOURCES = (".cpp", ".hpp", ".cu", ".cuh")
INCLUDE = re.compile(r'\s*#\s*include\s*"((?:kernels|variants|reference_cpu|harness|tests|espalier|registries)/[^"]*)"')


def within(path: str, folder: str) -> bool:
    return path.startswith(folder + "/")


def folder_of(path: str) -> str | None:
    return max((f for f in MAY_INCLUDE if within(path, f)), key=len, default=None)


def arrows_back(root: pathlib.Path) -> tuple[int, list[str]]:
    """How many includes of the project's own were read, and those against the table."""
    read, wrong = 0, []
    for top in ("kernels", "variants", "reference_cpu", "harness"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SOURCES:
                continue
            path = file.relative_to(root).as_posix()
            folder = folder_of(path)
            if folder is None:
                wrong.append(f"{path}: its folder has no place in the table of includes_test.py")
                continue
            for number, line in enumerate(file.read_text().split("\n"), 1):
                if not (match := INCLUDE.match(line)):
                    continue
                read += 1
                if not any(within(match[1], allowed) for allowed in MAY_INCLUDE[folder]):
                    wrong.append(f"{path}:{number}: {folder}/ may not include {match[1]}")
    return read, wrong


def main() -> int:
    read, wrong = arrows_back(pathlib.Path(sys.argv[1]))
    print(f"{read} includes read, {len(wrong)} against the house")
    for line in wrong:
        print(line)
    if read < 1000:
        print("too few includes were found: is this the project's root?")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
