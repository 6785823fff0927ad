"""Rows 4, 7, 8, 11, 19 and 20: what happens to a whole sweep and to what is made of it."""

import os
import re
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

from injection import Finished, Machine, NotRun, Outcome, busy_loops, gtest, key, only, own_copy, processes_of, records, run, small_journal

TWINS = ("--variant", "right,right_baseline", "-p", "size=100")


def seeds(count: int, first: int = 0) -> tuple[str, str]:
    return "-p", "seed=" + ",".join(map(str, range(first, first + count)))


def kill_after(command: list, seconds: float, folder: Path) -> None:
    """Starts a program, kills it without warning and waits until it is gone."""
    with open(folder / "output.txt", "ab") as output:
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
    time.sleep(seconds)
    child.send_signal(signal.SIGKILL)
    child.wait()


def row_4(machine: Machine) -> Outcome:
    """kill -9 of the parent at random moments, then --resume."""
    outcome = Outcome()
    kills = machine.times(100, 8)
    problems = 2 * kills
    with machine.folder() as folder:
        small_journal(machine, folder, 1)  # there from the first kill on
        program = own_copy(machine, folder)
        # A budget that the kills cannot exhaust; each problem takes about 0.1 s.
        command = [program, *machine.sweep_arguments(folder, *TWINS, *seeds(problems), "--resume", "--no-merge")]
        before: set[str] = set()
        for number in range(kills):
            kill_after(command, machine.random.uniform(0.01, 0.5), folder)
            deadline = time.monotonic() + 3
            while processes_of(program) and time.monotonic() < deadline:
                time.sleep(0.01)
            orphans = len(processes_of(program))
            there = {key(case) for case in records(only(folder / "journal", "*.jsonl"))}
            outcome.records_lost += len(before - there)
            outcome.count(orphans == 0 and before <= there, f"kill {number}: {orphans} orphans, {before - there} lost")
            before = there
        last = run(command, 600)
        cases = [key(case) for case in records(only(folder / "journal", "*.jsonl")) if "size=100;" in case["problem"]]
        outcome.records_lost += 3 * problems - len(set(cases))
        outcome.count(last.code == 0 and len(cases) == len(set(cases)) == 3 * problems,
                      f"resumed at last: {last}; {len(cases)} records of {len(set(cases))} cases, not {3 * problems}")
    return outcome


def row_7(machine: Machine) -> Outcome:
    """The disk is full at a random byte."""
    outcome = Outcome()
    with machine.folder() as folder:
        whole = small_journal(machine, folder, 1)
        start = whole.read_bytes()
        name = whole.name
        for number in range(machine.times(50, 5)):
            with disk_of(machine, folder / f"full-{number}", len(start) + machine.random.randrange(1, 12_000)) as disk:
                disk.place(name, start)
                done = disk.run([machine.faulty, *machine.sweep_arguments(disk.folder, *TWINS, *seeds(40), "--resume",
                                                                          "--no-merge")])
                left = disk.folder / "journal" / name
                check = run([machine.espalier, "verify", left])
                outcome.records_lost += max(0, 3 - len(records(left)))
                reason = re.search(r"(too large|No space left).*--resume", done.err)
                outcome.count(done.code == 4 and bool(reason) and check.code == 0, f"{disk.kind}: {done}; {check}")
    return outcome


class disk_of:
    """A file system that ends after so many bytes: a real one where it may be mounted, else a limit on files."""

    def __init__(self, machine: Machine, folder: Path, size: int):
        self.folder, self.size, self.kind = folder, size, "file size limit"
        folder.mkdir()
        # Every fifth one: mounting has a granularity of 4 KiB, the limit is exact.
        if machine.random.random() < 0.2:
            mounted = run(["mount", "-t", "tmpfs", "-o", f"size={-(-size // 4096) * 4096 + 4096}", "tmpfs", folder])
            if mounted.code == 0:
                self.kind = "full file system"

    def __enter__(self):
        return self

    def place(self, name: str, content: bytes) -> None:
        (self.folder / "journal").mkdir()
        (self.folder / "journal" / name).write_bytes(content)

    def run(self, command: list) -> Finished:
        if self.kind == "full file system":
            return run(command)
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, self.size))
        return run(command, prepare=limit)

    def __exit__(self, *_):
        if self.kind == "full file system":
            run(["umount", self.folder])
        shutil.rmtree(self.folder, ignore_errors=True)


def row_8(machine: Machine) -> Outcome:
    """kill -9 during merge, export and train."""
    outcome = Outcome()
    with machine.folder() as folder:
        small_journal(machine, folder, 3)
        steps = {
            "merge": ["merge", folder / "journal", "--results", folder / "now/results"],
            "report": ["report", "--no-page", "--results", folder / "now/results", "--output", folder / "now/report"],
            "train": ["train", "--results", folder / "now/results", "--output", folder / "now/selectors"],
        }
        shutil.copytree(folder / "results", folder / "now/results")
        states = [snapshot_after(machine, folder, steps)]
        more = machine.sweep(folder, *TWINS, *seeds(3), "--no-merge")
        if more.code != 0:
            raise AssertionError(f"the second sweep failed by itself: {more}")
        shutil.copytree(folder / "now", folder / "old")
        states.append(snapshot_after(machine, folder, steps))
        for number in range(machine.times(60, 12)):
            step = list(steps)[number % 3]
            shutil.rmtree(folder / "now")
            shutil.copytree(folder / "old", folder / "now")
            if step != "merge":  # something must change while it is killed
                run([machine.faulty, *steps["merge"]])
            kill_after([machine.faulty, *steps[step]], machine.random.uniform(0, 0.04), folder)
            mixed = [str(path) for path, content in snapshot(folder / "now").items()
                     if content not in (states[0].get(path), states[1].get(path))]
            outcome.count(not mixed, f"{step} left neither the old nor the new {mixed}")
            for case_file in (folder / "now/results").glob("*/*.jsonl"):
                outcome.records_lost += max(0, 9 - len(records(case_file)))
    return outcome


def snapshot(folder: Path) -> dict[Path, bytes]:
    # What a killed writer leaves beside the file has a name of its own, which no reader takes for results.
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*")
            if path.is_file() and path.suffix in (".jsonl", ".csv", ".json", ".cpp")}


def snapshot_after(machine: Machine, folder: Path, steps: dict[str, list]) -> dict[Path, bytes]:
    for command in steps.values():
        done = run([machine.faulty, *command])
        if done.code != 0:
            raise AssertionError(f"{command[0]} failed by itself: {done}")
    return snapshot(folder / "now")


def row_11(machine: Machine) -> Outcome:
    """A shard is missing."""
    outcome = Outcome()
    with machine.folder() as folder:
        for shard in range(1, 4):
            done = machine.sweep(folder / "shards", *TWINS, *seeds(9), "--no-merge", "--shard", f"{shard}/3")
            if done.code != 0:
                raise AssertionError(f"shard {shard} failed by itself: {done}")
        for missing in range(0, 4):
            part = folder / f"without-{missing}"
            shutil.copytree(folder / "shards/journal", part)
            if missing:
                only(part, f"*shard-{missing}-of-3.jsonl").unlink()
            merged = run([machine.faulty, "merge", part, "--results", part / "results"])
            train = [machine.faulty, "train", "--results", part / "results", "--output", part / "selectors"]
            strict, partial = run(train), run([*train, "--allow-partial"])
            if missing == 0:  # the control: nothing is reported where nothing is missing
                if merged.code or "missing" in merged.err or strict.code:
                    raise AssertionError(f"all shards: {merged}, {strict}")
                continue
            outcome.count(f"shard {missing} of 3 is missing" in merged.err and strict.code == 4 and
                          "--allow-partial" in strict.err and partial.code == 0,
                          f"without shard {missing}: {merged}; {strict}; {partial}")
    return outcome


def row_19(machine: Machine) -> Outcome:
    """Counters refused, no GPU, no NVML."""
    outcome = Outcome()
    hidden = {"CUDA_VISIBLE_DEVICES": ""}
    with machine.folder() as folder:
        arguments = machine.sweep_arguments(folder, "--variant", "right_baseline", "-p", "size=10", "-p", "seed=0")
        arguments[arguments.index("--device") + 1] = "cpu"
        at = arguments.index("--counters") + 1
        arguments[at] = "auto"
        done = run([machine.faulty, *arguments], environment=hidden)
        cases = records(only(folder / "journal", "*.jsonl"))
        outcome.count(done.code == 0 and all(not case["counters"] and case["counters_reason"] for case in cases),
                      f"counters refused: {done}")
        arguments[at] = "require"
        done = run([machine.faulty, *arguments], environment=hidden)
        outcome.count(done.code == 3 and "counters" in done.err, f"counters required: {done}")
        for command in (["sweep", "--device", "0"], ["doctor", "--device", "0"], ["sweep", "--device", "7"]):
            done = run([machine.espalier, *command, *(() if command[0] == "doctor" else ("--dry-run",))],
                       environment=hidden)
            outcome.count(done.code == 3 and "device" in done.err + done.out, f"no GPU: {command}: {done}")
        done = run([machine.espalier, "doctor", "--json", "--no-ceilings"], environment=hidden)
        outcome.count(done.code == 0 and '"usable": true' in done.out, f"no GPU, doctor: {done}")
    return outcome


def row_20(machine: Machine) -> Outcome:
    """A co-tenant's load in mid-run."""
    outcome = Outcome()
    problems = machine.times(10, 3)
    with machine.folder() as folder:
        small_journal(machine, folder, 1)
        command = [machine.faulty, *machine.sweep_arguments(folder, "--variant", "right,right_baseline", "-p",
                                                            "size=1000000", *seeds(problems), "--resume", "--no-merge")]
        command[command.index("20%")] = "0.01%"  # out of reach: every problem is timed for its whole half second
        with busy_loops(2 * (os.cpu_count() or 1)):
            done = run(command, 300)
        cases = [case for case in records(only(folder / "journal", "*.jsonl")) if "size=1000000" in case["problem"]]
        for seed in range(problems):
            own = [case for case in cases if case["problem"].endswith(f"seed={seed}")]
            flagged = all(case["conditions"]["disturbed_rounds"] > 0 and case["conditions"]["repeated_rounds"] > 0 and
                          case["conditions"]["foreign_cpu_share"] > 0.1 for case in own)
            outcome.records_lost += 3 - len(own)
            outcome.count(done.code == 0 and len(own) == 3 and flagged,
                          f"problem {seed}: {[case['conditions'] for case in own]}; {done}")
    # How many samples each has says nothing about pairs: who has converged leaves early. So they are counted where
    # nobody leaves.
    for test, result in gtest(machine, "timing_test", "Timing.ADisturbedRoundIsTakenBackWhole").items():
        outcome.count(result["passed"], f"{test}: {result['message']}")
    return outcome


ROWS = {4: row_4, 7: row_7, 8: row_8, 11: row_11, 19: row_19, 20: row_20}
