#!/usr/bin/python3
"""How long a choice takes at run time, for results/<device-key>/selector.json.

Runs tests/bench/train/selector_benchmark (`cmake --build --preset host --target selector_benchmark`), which chooses with the
selectors that are compiled in for all problems that they were trained on, and enters the least CPU time of its
repetitions as "dispatch_ns": what disturbs it from outside only ever adds. The choice is made by a CPU for a GPU's
tree, too, so that the figure is about the machine where this runs.

Exits with 5 if one of them exceeds --limit.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "plots"))
from regular_files import read_json  # noqa: E402
from replaced import replace  # noqa: E402


def measure(program, repetitions):
    # All in turn and again: what disturbs the machine for a second takes one repetition of each, not all of one.
    command = [program, "--benchmark_format=json", f"--benchmark_repetitions={repetitions}", "--benchmark_min_time=0.05",
               "--benchmark_enable_random_interleaving=true"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    times = {}
    for run in report["benchmarks"]:
        if run["run_type"] != "iteration":
            continue
        assert run["time_unit"] == "ns", run
        name = run["run_name"]
        times[name] = min(times.get(name, float("inf")), run["cpu_time"])
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--benchmark", default="build/host/tests/selector_benchmark")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("results"))
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--limit", type=float, default=50, help="ns")
    arguments = parser.parse_args()
    if not pathlib.Path(arguments.benchmark).exists():
        sys.exit(f"{arguments.benchmark} is missing: cmake --build --preset host --target selector_benchmark")
    slow = False
    summaries = {}
    for name, ns in sorted(measure(arguments.benchmark, arguments.repetitions).items()):
        device, family = name.split("/")
        path = arguments.results / device / "selector.json"
        summary = summaries.setdefault(path, read_json(path))
        if family not in summary["families"]:
            sys.exit(f"{path} has no {family}: run espalier train")
        summary["families"][family]["dispatch_ns"] = round(ns, 1)
        slow |= ns > arguments.limit
        print(f"{device:<20} {family:<18} {ns:6.1f} ns{'  too slow' if ns > arguments.limit else ''}")
    for path, summary in summaries.items():
        replace(path, json.dumps(summary, indent=2) + "\n")
    return 5 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
