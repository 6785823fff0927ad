#!/usr/bin/python3
"""No include runs back against the house: docs/rooms.md says who stands on whom.

usage: includes_test.py SOURCES [--write]

With --write the picture of docs/rooms.md is made anew; else it is compared.
"""

import pathlib
import re
import sys

from rooms import INSIDE, MAY_INCLUDE, picture

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
                wrong.append(f"{path}: its folder has no place in the table of tests/house/rooms.py")
                continue
            for number, line in enumerate(file.read_text().split("\n"), 1):
                if not (match := INCLUDE.match(line)):
                    continue
                read += 1
                allowed = [folder, *MAY_INCLUDE[folder]]
                if match[1] not in INSIDE.get(path, []) and not any(within(match[1], room) for room in allowed):
                    wrong.append(f"{path}:{number}: {folder}/ may not include {match[1]}")
    return read, wrong


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    read, wrong = arrows_back(root)
    print(f"{read} includes read, {len(wrong)} against the house")
    for line in wrong:
        print(line)
    page = root / "docs/rooms.md"
    text = page.read_text()
    begin, end = "<!-- begin picture of the rooms: tests/house/rooms.py -->\n", "<!-- end picture of the rooms -->"
    before, _, rest = text.partition(begin)
    shown = before + begin + picture() + "\n" + end + rest.partition(end)[2]
    if sys.argv[2:] == ["--write"]:
        page.write_text(shown)
    elif shown != text:
        wrong.append("docs/rooms.md shows other rooms: tests/house/includes_test.py . --write makes its picture anew")
        print(wrong[-1])
    if read < 1000:
        print("too few includes were found: is this the project's root?")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
