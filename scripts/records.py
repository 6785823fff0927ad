"""Records as the harness keeps them: a line of JSON each, sealed with a CRC-32 unless its file is packed with xz."""

import json
import lzma
import pathlib
import re
import sys
import zlib
from contextlib import closing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "plots"))
import regular_files  # noqa: E402
from replaced import replace  # noqa: E402

MOST_CONFIGURATIONS = 256  # of a line

SEAL = re.compile(rb',"crc32":"[0-9a-f]{8}"}\n')


def unsealed(kind, body):
    """A line of a packed file, which has a checksum of its own."""
    return json.dumps({"schema": f"espalier.{kind}/1", kind: body}, separators=(",", ":"), ensure_ascii=False) + "\n"


def sealed(kind, body):
    """A line of a journal or of a file that is not packed."""
    line = unsealed(kind, body)[:-2]
    return f'{line},"crc32":"{zlib.crc32(line.encode()):08x}"}}\n'


def read_cases(path):
    """The cases of a packed file, in its order; none if there is no such file."""
    if not path.exists():
        return []
    with closing(regular_files.lines(path)) as lines:
        return [case for line in lines for case in cases_of(json.loads(line)["case"])]


def cases_of(line):
    """Those that a line of results stands for: one, or one of each of its configurations."""
    if "configurations" not in line:
        return [line]
    configurations = line.pop("configurations")
    return [line | {"configuration": configuration} for configuration in configurations]


def packed(content):
    """As harness/bench/records/packing.cpp packs text."""
    how = {"id": lzma.FILTER_LZMA2, "preset": 6, "pb": 0, "lc": 4, "nice_len": 273}
    return lzma.compress(content, filters=[how])


def shortened(case):
    """Times with as many digits as harness/bench/records/results.cpp packs."""
    def four(value):
        return float(f"{value:.3e}")
    return case | {"samples_ns": [four(sample) for sample in case["samples_ns"]],
                   "time_lo_ns": min(four(case["time_lo_ns"]), case["time_ns"]),
                   "time_hi_ns": max(four(case["time_hi_ns"]), case["time_ns"])}


def keep(path, cases):
    """Puts cases into a packed file: those of their problems in it go, others stay."""
    problems = {case["problem"] for case in cases}
    others = [case for case in read_cases(path) if case["problem"] not in problems]
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(unsealed("case", case) for case in together([*others, *map(shortened, cases)]))
    replace(path, packed(text.encode()))


def together(cases):
    """The lines of cases in a packed file, as harness/bench/records/results.cpp has them: cases without times that follow
    one another and differ in their configurations alone share one."""
    lines = []
    for case in cases:
        rest = {name: value for name, value in case.items() if name != "configuration"}
        if lines and not case["samples_ns"] and lines[-1][0] == rest and len(lines[-1][1]) < MOST_CONFIGURATIONS:
            lines[-1][1].append(case["configuration"])
        else:
            lines.append((rest, [case["configuration"]], case))
    return [case if len(configurations) == 1 else rest | {"configurations": configurations}
            for rest, configurations, case in lines]


def pack(path):
    """Packs a file of records, whose lines lose their seals: its name gets another ending."""
    path = pathlib.Path(path)
    content = SEAL.sub(b"}\n", regular_files.read_bytes(path, regular_files.LARGEST))
    replace(path.with_name(path.name + ".xz"), packed(content))
    path.unlink()
