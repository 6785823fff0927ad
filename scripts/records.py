"""Records as the harness keeps them: a line of JSON each, sealed with a CRC-32, packed with xz."""

import json
import lzma
import os
import pathlib
import zlib


def sealed(kind, body):
    """A line of a results file."""
    line = json.dumps({"schema": f"espalier.{kind}/1", kind: body}, separators=(",", ":"), ensure_ascii=False)[:-1]
    return f'{line},"crc32":"{zlib.crc32(line.encode()):08x}"}}\n'


def read_cases(path):
    """The cases of a packed file, in its order; none if there is no such file."""
    if not path.exists():
        return []
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["case"] for line in lines]


def keep(path, cases):
    """Puts cases into a packed file: those of their problems in it go, others stay."""
    problems = {case["problem"] for case in cases}
    others = [case for case in read_cases(path) if case["problem"] not in problems]
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    text = "".join(sealed("case", case) for case in [*others, *cases])
    partial.write_bytes(lzma.compress(text.encode(), preset=6))
    os.replace(partial, path)


def pack(path):
    """Packs a file of records: its name gets another ending."""
    path = pathlib.Path(path)
    path.with_name(path.name + ".xz").write_bytes(lzma.compress(path.read_bytes(), preset=6))
    path.unlink()
