"""Records as the harness keeps them: a line of JSON each, sealed with a CRC-32 unless its file is packed with xz."""

import itertools
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

MOST_CASES = 256  # of a line

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
    """Those that a line of results stands for: one, or what each of its "cases" has of its own beside the rest."""
    if "cases" not in line:
        return [line]
    own = line.pop("cases")
    return [case for one in own for case in cases_of(both(line, one))]


def both(shared, own):
    """The members of both; an object that both have is one of its members."""
    return shared | {name: both(shared[name], value) if name in shared and isinstance(value, dict) else value
                     for name, value in own.items()}


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
    """The lines of cases in a packed file, as harness/bench/records/case_lines.cpp has them: of cases that follow one
    another those of a problem share one, and within it those of a variant what they share."""
    return [as_one([as_one(of_variant) for of_variant in runs(of_problem, "variant")])
            for of_problem in runs(cases, "problem")]


def runs(cases, name):
    """Cases that follow one another and have the same value of a member."""
    for _, alike in itertools.groupby(cases, key=lambda case: case[name]):
        while some := list(itertools.islice(alike, MOST_CASES)):
            yield some


def as_one(bodies):
    """Bodies as one that stands for all."""
    if len(bodies) == 1:
        return bodies[0]
    shared = shared_by(bodies)
    return shared | {"cases": [without(body, shared) for body in bodies]}


def shared_by(bodies):
    """What all bodies have, of objects their members; "cases" and samples stay each one's own."""
    shared = {}
    for name, value in bodies[0].items():
        values = [body.get(name) for body in bodies]
        if name == "cases" or (name == "samples_ns" and value) or None in values:
            continue
        if all(other == value for other in values):
            shared[name] = value
        elif all(isinstance(other, dict) for other in values) and (inner := shared_by(values)):
            shared[name] = inner
    return shared


def without(body, shared):
    """What a body has beside what is shared."""
    return {name: without(value, shared[name]) if name in shared else value
            for name, value in body.items() if name not in shared or value != shared[name]}


def pack(path):
    """Packs a file of records, whose lines lose their seals: its name gets another ending."""
    path = pathlib.Path(path)
    content = SEAL.sub(b"}\n", regular_files.read_bytes(path, regular_files.LARGEST))
    replace(path.with_name(path.name + ".xz"), packed(content))
    path.unlink()
