"""What the rows of the fault table share: the programs, temporary folders, journals, and the counting."""

import dataclasses
import json
import os
from random import Random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(REPOSITORY / "scripts"))

from records import sealed  # noqa: E402, F401

# Rows run beside other tests: their sweeps neither wait for quiet nor are refused for want of it.
os.environ.setdefault("ESPALIER_WAIT_FOR_QUIET", "0")
os.environ.setdefault("ESPALIER_SHARE_DEVICE", "true")
os.environ.setdefault("ESPALIER_ALLOW_DISTURBED", "true")


class NotRun(Exception):
    """The fault cannot be injected on this machine; the text says why."""


@dataclasses.dataclass
class Outcome:
    """The count of one row."""

    injected: int = 0
    survived: int = 0
    records_lost: int = 0
    wrong_choices: int = 0
    failures: list[str] = dataclasses.field(default_factory=list)

    def count(self, survived: bool, what: str, times: int = 1) -> None:
        """One fault, or `times` of them that end alike. `what` tells what happened if it was not survived."""
        self.injected += times
        if survived:
            self.survived += times
        else:
            self.failures.append(what)

    @property
    def sound(self) -> bool:
        return 0 < self.injected == self.survived and self.records_lost == 0 == self.wrong_choices


@dataclasses.dataclass
class Finished:
    code: int  # exit code, or minus the signal
    out: str
    err: str
    seconds: float
    peak_mib: float = 0.0

    def __str__(self) -> str:
        return f"exit code {self.code} after {self.seconds:.1f} s: {(self.err or self.out)[-300:]}"


@dataclasses.dataclass
class Machine:
    """Where the programs are and what the run was asked for."""

    folders: list[Path]
    device: str
    quick: bool
    scratch: Path
    random: Random = dataclasses.field(default_factory=lambda: Random(1))

    def program(self, name: str) -> Path:
        for folder in self.folders:
            if os.access(folder / name, os.X_OK):
                return folder / name
        raise NotRun(f"the program {name} is not in {self.folders[0]}: build it, or bundle it with scripts/bundle")

    @property
    def espalier(self) -> Path:
        return self.program("espalier")

    @property
    def faulty(self) -> Path:
        return self.program("faulty_espalier")

    def times(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    @contextmanager
    def folder(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory(dir=self.scratch) as name:
            yield Path(name)

    def sweep_arguments(self, folder: Path, *more: str) -> list[str]:
        """A sweep of the faulty family, quick and imprecise, that leaves everything in `folder`."""
        return self.sweep_with_ceilings(folder, "--no-ceilings", *more)

    def sweep_with_ceilings(self, folder: Path, *more: str) -> list[str]:
        return ["sweep", "--device", self.device, "--quick", "--noise", "20%", "--counters", "off",
                "--output", str(folder / "journal"), "--results", str(folder / "results"), *more]

    def sweep(self, folder: Path, *more: str, timeout: float = 300) -> Finished:
        return run([self.faulty, *self.sweep_arguments(folder, *more)], timeout=timeout)


def run(command: list, timeout: float = 120, environment: dict | None = None, prepare: Callable | None = None,
        folder: Path | None = None) -> Finished:
    """Runs a program to its end. One that does not end in time is killed and has the exit code -9."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                 env=os.environ | (environment or {}), preexec_fn=prepare, cwd=folder,
                                 start_new_session=True)
        status, usage = wait(child, timeout)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return Finished(status, *texts, time.monotonic() - start, usage.ru_maxrss / 1024)


def wait(child: subprocess.Popen, timeout: float):
    """Exit code (or minus the signal) and resource usage of a child, which is killed after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while True:
        pid, status, usage = os.wait4(child.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > deadline:
            os.killpg(child.pid, signal.SIGKILL)
            _, status, usage = os.wait4(child.pid, 0)
            break
        time.sleep(0.002)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, usage


def gtest(machine: Machine, program: str, selection: str, timeout: float = 600) -> dict[str, dict]:
    """Runs tests of a GoogleTest program. Their results by full name, with the properties that they recorded."""
    with machine.folder() as folder:
        report = folder / "tests.json"
        # OpenMP's threads must sleep, not spin, between many small loops.
        done = run([machine.program(program), f"--gtest_filter={selection}", f"--gtest_output=json:{report}"], timeout,
                   {"OMP_WAIT_POLICY": "passive"})
        if not report.exists():
            return {program: {"passed": False, "skipped": False, "message": str(done)}}
        results = {}
        for suite in json.loads(report.read_text())["testsuites"]:
            for test in suite["testsuite"]:
                failures = [failure["failure"] for failure in test.get("failures", [])]
                results[f"{suite['name']}.{test['name']}"] = test | {
                    "passed": not failures, "skipped": test.get("result") == "SKIPPED", "message": " ".join(failures)}
        return results


# --- journals, written and read without a line of the code under test -------------------------------------------


def records(journal: Path, kind: str = "case") -> list[dict]:
    """The bodies of all records of one kind, complete lines only."""
    bodies = []
    for line in journal.read_bytes().split(b"\n"):
        try:
            bodies.append(json.loads(line)[kind])
        except (ValueError, KeyError):
            continue
    return bodies


def key(case: dict) -> str:
    return f"{case['family']}/{case['variant']}|{case['problem']}|{case['configuration']}"


def only(folder: Path, pattern: str) -> Path:
    """The one file or folder of this name."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise AssertionError(f"{len(found)} of {pattern} in {folder}, not one")
    return found[0]


def small_journal(machine: Machine, folder: Path, seeds: int = 2, ceilings: bool = False) -> Path:
    """A real journal: the device, the plan and three right cases of each of `seeds` problems."""
    arguments = machine.sweep_with_ceilings if ceilings else machine.sweep_arguments
    done = run([machine.faulty, *arguments(folder, "--variant", "right,right_baseline", "-p", "size=10", "-p",
                                           "seed=" + ",".join(map(str, range(seeds))), "--max-time", "30s")])
    if done.code != 0:
        raise AssertionError(f"the sweep that was to be disturbed failed by itself: {done}")
    return only(folder / "journal", "*.jsonl")


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes that do nothing, as fast as they can."""
    loops = [subprocess.Popen(["/bin/sh", "-c", "while :; do :; done"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def processes_of(program: Path) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(entry / "exe")) == program:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def own_copy(machine: Machine, folder: Path) -> Path:
    """The faulty program under a name that nobody else's processes have."""
    copy = folder / "program" / "faulty_espalier"
    copy.parent.mkdir()
    shutil.copy2(machine.faulty, copy)
    libraries = machine.faulty.parent / "lib"  # of a bundle
    if libraries.is_dir():
        (copy.parent / "lib").symlink_to(libraries)
    return copy
