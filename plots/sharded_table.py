"""The table of docs/performance/knn.md about points in shards, from results/<device-key>/sharded.json."""

from pathlib import Path

from evidence import between, number, table
from regular_files import read_json

BEGIN, END = "<!-- begin shards: plots/documents.py -->\n", "<!-- end shards -->"
QUERIES = (1, 1_000, 10_000)


def with_shards(text: str, results: Path) -> str:
    groups = {}
    for run in read_json(results / "sharded.json")["runs"]:
        groups.setdefault((run["points"], run["gpus"], run["shards"], run["resident"]), {})[run["queries"]] = run
    rows = []
    for (points, gpus, shards, resident), runs in groups.items():
        some = next(iter(runs.values()))
        rows.append([f"{points * some['dims'] * 4e-9:.0f}", gpus, f"{resident} of {shards}",
                     milliseconds(some["copies_s"] or None), *(beside(runs[queries]) for queries in QUERIES)])
    header = ["GB", "GPUs", "shards that stay", "the others' copies", "1 query",
              *(f"{queries:,} queries" for queries in QUERIES[1:])]
    return between(text, BEGIN, END, table(header, rows))


def beside(run: dict) -> str:
    """The time, and that of one model of all points where one was measured."""
    one = f" ({milliseconds(run['one_model_s'])})" if run["one_model_s"] else ""
    return milliseconds(run["s"]) + one


def milliseconds(seconds: float | None) -> str:
    return number(seconds and seconds * 1e3, 3)
