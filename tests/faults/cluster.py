"""Row 22: a Slurm job preempted and requeued."""

import json
import subprocess
import sys
from pathlib import Path

from injection import Machine, NotRun, Outcome, key, records

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))

from slurm_cluster import Cluster, missing_programs  # noqa: E402


def row_22(machine: Machine) -> Outcome:
    if missing_programs():
        raise NotRun(f"no Slurm here ({', '.join(missing_programs())} missing): scripts/setup test installs it")
    with machine.folder() as folder, Cluster(folder / "cluster") as cluster:
        return interrupted_array(cluster, machine.faulty, folder / "preempted", machine.times(40, 12))


def interrupted_array(cluster: Cluster, program: Path, place: Path, problems: int) -> Outcome:
    """An array of two shards. Each is preempted by a more urgent job and then requeued by hand, in mid-run."""
    outcome = Outcome()
    seeds = ",".join(map(str, range(problems)))
    done = subprocess.run([program, "slurm", "--json", "--shards", "2", "--output", place / "journal", "--results",
                           place / "results", "--", "--quick", "--noise", "0.01%", "--variant", "right,right_baseline",
                           "-p", "size=10000", "-p", f"seed={seeds}"],
                          env=cluster.environment, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise AssertionError(done.stderr)
    array = json.loads(done.stdout)["array_job"]

    def cases() -> list[str]:
        return [key(case) for path in (place / "journal").glob("*.jsonl") for case in records(path)]

    def running() -> int:
        return sum(state == "RUNNING" for job, state in cluster.jobs().items() if job.startswith(array + "_"))

    def progress(than: int) -> None:
        """Both shards run, and have measured something since."""
        cluster.wait_until(lambda: running() == 2 and len(cases()) >= than + 6, 180, "the shards do not go on")

    def restarts(task: int) -> int:
        shown = cluster.call("scontrol", "show", "job", f"{array}_{task}")
        return int(shown.split("Restarts=")[1].split()[0])

    def preempt() -> None:
        cluster.call("sbatch", "--partition=urgent", "--ntasks=2", "--output=/dev/null", "--wrap=sleep 1")

    def requeue() -> None:
        for task in (1, 2):
            cluster.call("scontrol", "requeue", f"{array}_{task}")

    before: set[str] = set()
    for number, interrupt in enumerate((preempt, requeue)):
        progress(len(before))
        before = set(cases())
        interrupt()
        cluster.wait_until(lambda: min(restarts(1), restarts(2)) > number, 60, f"{interrupt.__name__} restarts nothing")
        outcome.records_lost += len(before - set(cases()))
        outcome.count(before <= set(cases()), f"{interrupt.__name__}: {before - set(cases())} lost", 2)
    cluster.wait_until(lambda: not cluster.jobs(), 300, "the jobs do not end")
    found = cases()
    outcome.records_lost += 3 * problems - len(set(found))
    whole = len(found) == len(set(found)) == 3 * problems
    merged = [key(case) for path in (place / "results").glob("*/faulty.jsonl") for case in records(path)]
    if not whole or len(merged) != len(found):
        outcome.survived = 0
        outcome.failures.append(f"{len(found)} records of {len(set(found))} cases, {len(merged)} merged, not {3 * problems}")
    return outcome


ROWS = {22: row_22}
