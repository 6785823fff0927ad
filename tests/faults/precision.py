"""Row 31: tables that single precision cannot hold."""

import csv
import math
from decimal import Decimal, localcontext
from pathlib import Path
from random import Random

from injection import Machine, Outcome, run


def euclidean(x: tuple, y: tuple) -> float:
    return math.dist(x, y)


def cosine(x: tuple, y: tuple) -> Decimal:
    """In fifty digits: what doubles lose where rows are nearly parallel is what the row is about."""
    with localcontext() as context:
        context.prec = 50
        p, q = [Decimal(v) for v in x], [Decimal(v) for v in y]
        dot = sum(a * b for a, b in zip(p, q))
        return 1 - dot / (sum(a * a for a in p) * sum(b * b for b in q)).sqrt()


def unix_seconds(random: Random) -> tuple:
    return (float(random.randrange(1_500_000_000, 1_700_000_000)),)


def utm_metres(random: Random) -> tuple:
    return (random.uniform(455_000, 465_000), random.uniform(5_400_000, 5_410_000))


def thousandths(random: Random) -> tuple:
    return tuple(1e9 + random.randrange(4096) / 1024 for _ in range(3))


def clusters(random: Random) -> tuple:
    return (random.choice((-1e9, 1e9)) + random.random(), random.random())


def parallel(random: Random) -> tuple:
    length = random.uniform(1, 1000)
    return (length * (1 + random.uniform(-1e-6, 1e-6)), 2 * length * (1 + random.uniform(-1e-6, 1e-6)), 3 * length)


TABLES = {"Unix seconds": (unix_seconds, euclidean), "UTM metres": (utm_metres, euclidean),
          "thousandths at 1e9": (thousandths, euclidean), "two far clusters": (clusters, euclidean),
          "nearly parallel rows": (parallel, cosine)}


def write(path: Path, rows: list, labels: list) -> None:
    lines = [",".join(map(repr, row)) + f",{label!r}\n" for row, label in zip(rows, labels)]
    path.write_text(",".join("abc"[:len(rows[0])]) + ",label\n" + "".join(lines))


def compare(machine: Machine, folder: Path, what: str, k: int, outcome: Outcome) -> None:
    """Neighbours and the means of labels of 1.7e9, each query by itself."""
    draw, distance = TABLES[what]
    random = Random(31)
    train, test = ([draw(random) for _ in range(count)] for count in (machine.times(1000, 200), machine.times(200, 40)))
    labels = [1_700_000_001 + 2 * i for i in range(len(train))]
    write(folder / "train.csv", train, labels)
    write(folder / "test.csv", test, [0] * len(test))
    done = run([machine.espalier, "knn", "--train", folder / "train.csv", "--test", folder / "test.csv", "-k", str(k),
                "--regression", "--metric", distance.__name__, "--neighbours", "-o", folder / "out.csv", "--quiet"])
    rows = list(csv.reader(open(folder / "out.csv")))[1:] if done.code == 0 else []
    if len(rows) != len(test):
        outcome.count(False, f"{what}: {len(rows)} of {len(test)} predictions; {done}", len(test))
        return
    for query, row in zip(test, rows):
        nearest = sorted(range(len(train)), key=lambda i: (distance(query, train[i]), i))[:k]
        mean = math.fsum(labels[i] for i in nearest) / k
        found = [int(cell) - 1 for cell in row[3::2]]
        outcome.count(found == nearest and abs(float(row[1]) - mean) <= 1e-6,
                      f"{what}, k = {k}: rows {found} instead of {nearest}, {row[1]} instead of {mean!r}")


def row_31(machine: Machine) -> Outcome:
    """Neighbours, predictions and labels are those of double precision."""
    outcome = Outcome()
    with machine.folder() as folder:
        for what in TABLES:
            for k in (1, 5):
                compare(machine, folder, what, k, outcome)
    return outcome


ROWS = {31: row_31}
